// Finds the unit of a value axis, as the words of its chart say it.

/** From a note or a title that says unit and definition; undefined where it names none. */
export const unitOf = (words: string): string | undefined =>
  /(?<!times )\bnats\b|^(?:tokens|seconds)\b/i.exec(words)?.[0].toLowerCase()
