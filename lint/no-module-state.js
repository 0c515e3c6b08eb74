/**
 * Refuses module-level mutable state. In workflow code it is invisible to continue-as-new and to the
 * reader, and whether it is shared between runs has changed between SDK versions.
 */
export const noModuleState = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      state:
        'Module-level mutable state: keep it in the workflow function, or make it a constant (`as const`, Object.freeze).',
    },
  },
  create(context) {
    return {
      'Program > VariableDeclaration, Program > ExportNamedDeclaration > VariableDeclaration'(
        declaration,
      ) {
        for (const declarator of declaration.declarations) {
          if (declaration.kind !== 'const' || isMutable(declarator.init))
            context.report({ node: declarator, messageId: 'state' });
        }
      },
    };
  },
};

function isMutable(init) {
  switch (init?.type) {
    case 'ArrayExpression':
    case 'ObjectExpression':
    case 'NewExpression':
      return true;
    case 'TSSatisfiesExpression':
    case 'TSNonNullExpression':
      return isMutable(init.expression);
    case 'TSAsExpression':
      // `as const` is read-only to the type checker, all the way down.
      return init.typeAnnotation.typeName?.name !== 'const' && isMutable(init.expression);
    default:
      return false;
  }
}
