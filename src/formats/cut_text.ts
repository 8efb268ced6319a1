// Cuts names where there is no room for the whole, so that one sees it: a number without its end is
// another number.

/** A text of at most so many letters, with an ellipsis where it had more. */
export function cutText(text: string, most: number): string {
  const letters = [...text]
  return letters.length > most ? `${letters.slice(0, most - 1).join('')}…` : text
}
