const REQUIRED = ['startToCloseTimeout', 'retry', 'cancellationType'];

/**
 * Every proxyActivities names its timeout, a finite retry policy and how it is cancelled: the
 * defaults retry for ever, and the type doc of cancellationType names another default than the one sent.
 */
export const explicitActivityOptions = {
  meta: {
    type: 'problem',
    schema: [],
    messages: {
      literal:
        'Give proxyActivities its options as an object literal, so that they can be read and checked here.',
      missing: 'proxyActivities without {{name}}: the default is not what an effect wants.',
      endless: 'A retry policy without maximumAttempts retries for ever.',
    },
  },
  create(context) {
    return {
      'CallExpression[callee.name="proxyActivities"]'(node) {
        const [options] = node.arguments;
        if (options?.type !== 'ObjectExpression')
          return context.report({ node, messageId: 'literal' });
        const values = new Map(options.properties.map((p) => [p.key?.name, p.value]));
        for (const name of REQUIRED) {
          if (!values.has(name)) context.report({ node, messageId: 'missing', data: { name } });
        }
        const retry = values.get('retry');
        if (
          retry?.type === 'ObjectExpression' &&
          !retry.properties.some((p) => p.key?.name === 'maximumAttempts')
        ) {
          context.report({ node: retry, messageId: 'endless' });
        }
        return undefined;
      },
    };
  },
};
