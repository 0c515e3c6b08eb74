import { main } from './program.ts';

// A reader that has seen enough (`q2t list | head -1`) closes the pipe: no reason to complain.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

// Not process.exit(code): that would cut off what a pipe has not taken yet.
process.exitCode = await main(process.argv.slice(2));
