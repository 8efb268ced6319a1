// Cuts the objects of a list out of JSON that comes in pieces, so that a large file is never whole
// in memory.

/** Characters that are looked through for the list at a time. */
const LONGEST_ENTRY = 4_000_000

/** Cuts the objects of the list out of a text that comes in pieces. */
export class Entries {
  readonly #list: RegExp
  #text = ''
  #at = 0
  #depth = 0
  #start = 0
  #inText = false
  #state: 'before' | 'in' | 'after' = 'before'

  /** `list`: what begins the list, up to its bracket. */
  constructor(list: RegExp) {
    this.#list = list
  }

  /** Whether the text has ended inside the list. */
  get is_open(): boolean {
    return this.#state === 'in'
  }

  /** The objects that end in this piece. */
  push(piece: string): string[] {
    if (this.#state === 'after') return []
    this.#text += piece
    if (this.#state === 'before' && !this.#findList()) return []
    const found: string[] = []
    for (; this.#at < this.#text.length && this.#state === 'in'; this.#at++) this.#step(found)
    this.#forget()
    return found
  }

  #findList(): boolean {
    const list = this.#list.exec(this.#text)
    if (list) {
      this.#state = 'in'
      this.#at = list.index + list[0].length
    } else this.#text = this.#text.slice(-64)
    return list !== null
  }

  #step(found: string[]): void {
    const character = this.#text[this.#at]
    if (this.#inText) {
      if (character === '\\') this.#at++
      else if (character === '"') this.#inText = false
    } else if (character === '"') this.#inText = true
    else if (character === '{' || character === '[') {
      if (this.#depth++ === 0) this.#start = this.#at
    } else if (character === '}' || character === ']') {
      if (this.#depth === 0) this.#state = 'after'
      else if (--this.#depth === 0) found.push(this.#text.slice(this.#start, this.#at + 1))
    }
  }

  /** Drops what was read, up to an object that has not ended. */
  #forget(): void {
    const keep = this.#depth > 0 ? this.#start : Math.min(this.#at, this.#text.length)
    if (this.#text.length - keep > LONGEST_ENTRY) this.#state = 'after'
    this.#text = this.#text.slice(keep)
    this.#at -= keep
    this.#start -= keep
  }
}
