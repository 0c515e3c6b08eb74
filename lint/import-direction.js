import path from 'node:path';

/**
 * Refuses an import that goes against the table it is given: `{ folder: { folders, types, packages, node } }`.
 * The longest folder of the table that holds a file decides; files outside all of them are free.
 */
export const importDirection = {
  meta: {
    type: 'problem',
    schema: [{ type: 'object' }],
    messages: {
      forbidden:
        '{{from}}/ may not import {{what}}. It may import: {{allowed}}. The table is in eslint.config.js.',
      typesOnly:
        '{{from}}/ may import {{what}} as types only (import type): by value it would be bundled with its side effects.',
    },
  },
  create(context) {
    const [table] = context.options;
    const file = path.relative(context.cwd, context.filename).split(path.sep).join('/');
    const from = folderOf(file, table);
    if (!from) return {};

    function check(node, source, typesOnly) {
      const verdict = judge(table[from], from, file, source, typesOnly);
      if (!verdict) return;
      const { folders = [], types = [], packages = [], node: builtins } = table[from];
      const allowed = [
        ...folders,
        ...types.map((t) => `${t} (types)`),
        ...packages,
        ...(builtins ? ['node:*'] : []),
      ];
      context.report({
        node,
        messageId: verdict,
        data: { from, what: source, allowed: allowed.join(', ') || 'nothing' },
      });
    }

    return {
      ImportDeclaration: (node) =>
        check(node, node.source.value, isTypeOnly(node, node.importKind)),
      ExportNamedDeclaration: (node) =>
        node.source && check(node, node.source.value, isTypeOnly(node, node.exportKind)),
      ExportAllDeclaration: (node) => check(node, node.source.value, node.exportKind === 'type'),
      ImportExpression: (node) =>
        node.source.type === 'Literal' && check(node, node.source.value, false),
      TSImportType: (node) => check(node, (node.source ?? node.argument.literal).value, true),
    };
  },
};

function isTypeOnly(node, kind) {
  return (
    kind === 'type' ||
    (node.specifiers.length > 0 &&
      node.specifiers.every((s) => (s.importKind ?? s.exportKind) === 'type'))
  );
}

/** The longest key of `table` that `file` lies under. */
function folderOf(file, table) {
  return Object.keys(table)
    .filter((folder) => file.startsWith(`${folder}/`))
    .sort((a, b) => b.length - a.length)[0];
}

function judge(
  { folders = [], types = [], packages = [], node = false },
  from,
  file,
  source,
  typesOnly,
) {
  if (source.startsWith('.')) {
    const target = path.posix.join(path.posix.dirname(file), source);
    const under = (list) =>
      list.some((folder) => target === folder || target.startsWith(`${folder}/`));
    if (under([from, ...folders])) return undefined;
    if (under(types)) return typesOnly ? undefined : 'typesOnly';
    return 'forbidden';
  }
  if (source.startsWith('node:')) return node ? undefined : 'forbidden';
  return packages.some((name) => source === name || source.startsWith(`${name}/`))
    ? undefined
    : 'forbidden';
}
