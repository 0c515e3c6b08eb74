/** What is known of an edit before any of it runs. */
export interface Prepared {
  /** What the project's lint says. */
  lint: string[];
  /** What the bundler refuses it with. */
  bundler?: string;
}
