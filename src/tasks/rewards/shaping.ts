// Lists the parts of a reward that judge no answer. Rules of the document ask this before any
// reward is loaded; rewards.test.ts holds it to the parts.

/** Parts that look at the form of a response alone: they need no right answer. */
export const SHAPING_PARTS: readonly string[] = [
  'regex',
  'json_schema',
  'format',
  'length',
  'mentions',
  'distinct_ngrams',
]
