// Finds the unit of a value axis, as the words of its chart say it.

/** From a note or a title that says unit and definition; undefined where it names none. */
export function unitOf(words: string): string | undefined {
  const unit = /(?<!times )\bnats\b|^(?:tokens(?: per second)?|seconds)\b/i.exec(words)?.[0]
  // Longer words have no room beside the axis.
  return unit
    ?.toLowerCase()
    .replace(/tokens per second/, 'tok/s')
    .replace(/seconds/, 's')
}
