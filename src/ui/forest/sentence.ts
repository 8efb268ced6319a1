/** Says what the page is about. It is in index.html too (vite.config.ts), where it is read before
 * any code has come. */
export const SENTENCE =
  'Every layer of a language model already has a policy of its own: a probability for every next token. Train one here, and see which of them the light reaches first.'
