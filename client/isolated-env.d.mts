export function isolatedEnv(base: NodeJS.ProcessEnv): NodeJS.ProcessEnv;
