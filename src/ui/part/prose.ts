// Tells a text that is read, as a story is, from an answer that is looked at sign by sign.

/** A text of so many words is read as one. */
const PROSE_WORDS = 8

/** Whether a text is read: its changes are looked for, and its lines are as long as a book's. */
export const isProse = (text: string): boolean => text.trim().split(/\s+/).length >= PROSE_WORDS

/** What the class of an element with a prompt or a response has beside `response`. */
export const proseClass = (text: string): string => (isProse(text) ? 'is-prose' : '')
