/** Says what the page is about. It is in index.html too (vite.config.ts), where it is read before
 * any code has come. */
export const SENTENCE =
  'Watch a small language model learn. Each of its layers has a policy of its own: a probability for every next token. Train it, and see which layer the light reaches first.'
/** The same where nothing can be trained; as long as the other, so that nothing moves when it is
 * known. */
export const SENTENCE_WITHOUT_GPU =
  'Watch a small language model learn. Each of its layers has a policy of its own: a probability for every next token. Follow it, and see which layer the light reaches first.'
