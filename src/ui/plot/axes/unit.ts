// Finds the unit of a value axis, as the words of its chart say it.

/** From a note or a title that says unit and definition; undefined where it names none. */
export function unitOf(words: string): string | undefined {
  const unit = /(?<!times )\bnats\b|^(?:tokens|seconds)\b/i.exec(words)?.[0].toLowerCase()
  // The word has no room beside the axis.
  return unit === 'seconds' ? 's' : unit
}
