// Translates what an element shows: its texts, with the values and elements between them as one
// sentence, and the attributes that are read or spoken.
import { Fragment, isValidElement } from 'react'
import type { Props } from '../kit/translator.ts'
import { FIRST_MARK, MARKS } from './text_translator.ts'

/** Elements that show code, keys, what a person typed, and a piece of a text. */
const AS_IT_IS = new Set<unknown>(['code', 'pre', 'kbd', 'samp', 'mark', 'style', 'script', 'math'])
/** What the model wrote or was asked, whatever its words mean on the page. */
const OF_MODEL = /(?:^|\s)(?:response|tok)(?:\s|$)/
const SPOKEN = [
  'title',
  'aria-label',
  'aria-description',
  'aria-valuetext',
  'aria-roledescription',
  'placeholder',
  'alt',
  'label',
  // Drawn by CSS.
  'data-short',
  'data-head',
]

type Say = (text: string) => string
/** Words, a number whose sign is written otherwise, the full stop behind an element, or a space
 * behind one that is said already. */
const IS_SAID = /[A-Za-z]{2}|\s%|^\.(?:\s|$)|[。；：！？]\s|^\s$|^, $/
const isWords = (child: unknown): child is string | number =>
  typeof child === 'string' || typeof child === 'number'

/** Elements, and what is left out at the beginning: a sentence may have a place for it there. */
const isMarked = (child: unknown, index: number): boolean =>
  isValidElement(child) ||
  Array.isArray(child) ||
  (index === 0 && (child === null || child === undefined || child === false))

/** Text slots keep their places around elements, so that React sees the same elements as before; a
 * sentence that puts them into another order comes as a new list. */
function placed(children: readonly unknown[], said: string, marked: readonly unknown[]): unknown[] {
  const order = (said.match(MARKS) ?? []).map((mark) => mark.charCodeAt(0) - FIRST_MARK)
  const texts = said.split(MARKS)
  const gaps: string[] = [...texts]
  const inOrder = order.length === marked.length && order.every((index, i) => index === i)
  if (inOrder) {
    let gap = 0
    const kept = children.map((child, i) => {
      if (isWords(child)) {
        const text = gaps[gap] ?? ''
        gaps[gap] = ''
        return text
      }
      if (isMarked(child, i)) gap++
      return child
    })
    if (gaps.every((text) => text === '')) return kept
  }
  return texts.flatMap((text, i) => {
    const child = i < order.length ? [marked[order[i]]] : []
    return text === '' ? child : [text, ...child]
  })
}

/** Shows its text within a line, as none that is pressed or filled in does. */
const IN_LINE = new Set<unknown>(['span', 'b', 'i', 'em', 'strong', 'small', 'code', 'a'])

/** The text of an element that holds nothing but texts. */
function edgeOf(child: unknown): string {
  if (!isValidElement<{ children?: unknown }>(child)) return ''
  const { children } = child.props
  const all = Array.isArray(children) ? children : [children]
  return all.every(isWords) ? all.join('') : ''
}

/** None stands beside a sign of Chinese that has one of its own. */
function unspaced(text: string, marked: readonly unknown[]): string {
  const shown = (char: string) => {
    const child = marked[char.charCodeAt(0) - FIRST_MARK]
    const isInLine = isValidElement(child) && IN_LINE.has(child.type)
    return char.search(MARKS) === 0 ? (isInLine ? edgeOf(child) : '') : char
  }
  return text.replace(/(?<=(\S))[ \t]+(?=(\S))/gu, (space, before, after) => {
    const follows = shown(after)
    const isStopped = follows !== '' && /[。；：！？，]$/.test(shown(before))
    return isStopped || follows.startsWith('（') ? '' : space
  })
}

/** Beside an element a space stands where its text is of Latin letters or digits. */
const spaced = (text: string, marked: readonly unknown[]): string =>
  unspaced(text, marked)
    .replace(/(?<=\p{Script=Han})[\ue000-\uf8ff]/gu, (mark) =>
      /^[A-Za-z0-9]/.test(edgeOf(marked[mark.charCodeAt(0) - FIRST_MARK])) ? ` ${mark}` : mark,
    )
    .replace(/[\ue000-\uf8ff](?=\p{Script=Han})/gu, (mark) =>
      /[A-Za-z0-9]$/.test(edgeOf(marked[mark.charCodeAt(0) - FIRST_MARK])) ? `${mark} ` : mark,
    )

/** Children in a row as one sentence. */
function sequence(children: readonly unknown[], say: Say): readonly unknown[] {
  const inner = children.map((child) => (Array.isArray(child) ? sequence(child, say) : child))
  if (!inner.some((child) => typeof child === 'string' && IS_SAID.test(child))) return inner
  const marked = inner.filter(isMarked)
  let count = 0
  const text = inner
    .map((child, i) => {
      if (isWords(child)) return String(child)
      return isMarked(child, i) ? String.fromCharCode(FIRST_MARK + count++) : ''
    })
    .join('')
  return placed(inner, spaced(saySequence(text, say), marked), marked)
}

/** An icon at an end is none of the sentence. Where the whole has no translation, what lies between
 * elements is said by itself. */
function saySequence(text: string, say: Say): string {
  const whole = say(text)
  if (whole !== text) return whole
  const [, before, core, after] =
    /^([\s\ue000-\uf8ff]*)([\s\S]*?)([\s\ue000-\uf8ff]*)$/.exec(text) ?? []
  const said = say(core)
  if (said !== core) return `${before}${said}${after}`
  return text.replace(/[^\ue000-\uf8ff]+/g, (part) => say(part))
}

function saidChildren(children: unknown, say: Say): unknown {
  if (typeof children === 'string') return say(children)
  return Array.isArray(children) ? sequence(children, say) : children
}

/** Props as they are given where nothing of them is a text. Components pass on what they are given
 * until it reaches an element of HTML or SVG. */
export function translateProps(type: unknown, props: Props, say: Say): Props {
  if ((typeof type !== 'string' && type !== Fragment) || props.translate === 'no') return props
  const changes: Record<string, unknown> = {}
  for (const name of SPOKEN) {
    const value = props[name]
    if (typeof value === 'string') changes[name] = say(value)
  }
  if (!AS_IT_IS.has(type) && !OF_MODEL.test(String(props.className))) {
    const { children } = props
    const said = saidChildren(children, say)
    if (said !== children) changes.children = said
    // Its text is its value where it has none.
    if (type === 'option' && props.value === undefined && typeof children === 'string')
      changes.value = children
  }
  return Object.keys(changes).length === 0 ? props : { ...props, ...changes }
}
