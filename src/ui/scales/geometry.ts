// Fixes one geometry for every plot, so that the canvas lies exactly on the axes and steps line up
// between charts.

import { t } from '../kit/translator.ts'
import type { Domain } from './domain.ts'
import { phaseMark } from './phase_mark.ts'
import { textWidth } from './text_width.ts'
import { stepPixel, type View } from './view.ts'

const NEAR_EDIT = 8

/** Room around the plot area, in CSS pixels: phase labels above, step ticks below, value ticks at
 * the left. */
export const INSET = { top: 18, right: 12, bottom: 22, left: 42 } as const

/** A row of its own for what was changed by hand, between the phases and the plot. */
export const EDIT_ROW = 15

/** Pixels above the plot area of a chart with these marks. */
export const topOf = (edits: readonly EditMark[]): number =>
  INSET.top + (edits.length > 0 ? EDIT_ROW : 0)

export interface Size {
  readonly width: number
  readonly height: number
}

/** Room for the names of lines, right of the plot area: at most a fifth of a chart. One that is not
 * this wide has none, and its legend names them. */
const GUTTER = 112
const LEAST_WIDTH = 480

/** Pixels right of the plot area of a chart of this width, with or without names of lines there. */
export const rightOf = (width: number, hasGutter: boolean): number =>
  hasGutter && width >= LEAST_WIDTH ? Math.min(GUTTER, width / 5) : INSET.right

/** Between a value's text and the plot, with a pixel at the edge of the chart. */
const VALUE_GAP = 9

/** Pixels left of the plot area: as many as in every other chart, or more where a value's text is
 * wider. */
export const leftOf = (values: readonly string[], widthOf = textWidth): number =>
  Math.max(INSET.left, Math.ceil(Math.max(...values.map(widthOf)) + VALUE_GAP))

/** Size of the plot area inside a chart of this size; never negative. */
export function plotSize(
  { width, height }: Size,
  right: number = INSET.right,
  left: number = INSET.left,
  top: number = INSET.top,
): Size {
  return {
    width: Math.max(0, Math.floor(width - left - right)),
    height: Math.max(0, Math.floor(height - top - INSET.bottom)),
  }
}

/** A phase as the charts show it: it begins after `step` and ends after `end`, as planned while it
 * runs. */
export interface PhaseSpan {
  readonly step: number
  readonly end: number
  /** 1 for the first phase of the experiment. */
  readonly number: number
  readonly name: string
  readonly isSft: boolean
}

/** Something that was changed after `step`. */
export interface EditMark {
  readonly step: number
  readonly words: string
}

export interface EditLabel {
  readonly text: string
  /** Left of its line, because there is more room. */
  readonly isBefore: boolean
}

/** Pixels between the words of a mark and its line, and behind them. */
const AROUND_WORDS = 8
/** Fewer letters say nothing. */
const LEAST_LETTERS = 7

/** As much of a text as has room, with an ellipsis; a pencil where that is next to nothing. */
function wordsIn(room: number, words: string, widthOf: (text: string) => number): string {
  if (widthOf(words) <= room) return words
  const letters = [...words]
  let most = Math.floor((letters.length * Math.max(0, room)) / widthOf(words))
  const cut = () => `${letters.slice(0, most).join('')}…`
  while (most > 0 && widthOf(cut()) > room) most--
  return most >= LEAST_LETTERS ? cut() : '✎'
}

/** What is written at each mark: its words as far as they fit beside the other marks and inside the
 * plot, else a pencil. */
export function editLabels(
  marks: readonly EditMark[],
  x: Domain,
  width: number,
  widthOf = textWidth,
): EditLabel[] {
  const roomOf = (steps: number) => (steps / (x[1] - x[0])) * width - AROUND_WORDS
  return marks.map(({ step, words: english }, i) => {
    const words = t(english)
    const after = roomOf((marks[i + 1]?.step ?? x[1]) - step)
    // Before the first mark there is nothing in the way; before another one its words may be.
    const before = i === 0 ? roomOf(step - x[0]) : 0
    const isBefore = widthOf(words) > after && before > after
    return { text: wordsIn(isBefore ? before : after, words, widthOf), isBefore }
  })
}

/** The words of the edits within this many pixels of a place in the plot; '' where there are
 * none. */
export function editWordsNear(marks: readonly EditMark[], at: number, view: View): string {
  const words = marks
    .filter(({ step }) => Math.abs(stepPixel(step, view) - at) <= NEAR_EDIT)
    .map(({ step, words }) => t(`after step ${step}: ${words}`))
  return words.join('\n')
}

/** Marker label: number and name where it fits before the next marker, else the number alone. */
export function markerLabels(
  spans: readonly PhaseSpan[],
  x: Domain,
  width: number,
  withNames: boolean,
): string[] {
  return spans.map((span, i) => {
    const next = i + 1 < spans.length ? spans[i + 1].step : x[1]
    const room = ((next - span.step) / (x[1] - x[0])) * width
    const text = `${phaseMark(span.number)} ${span.name}`
    return withNames && text.length * 6.5 + 8 < room ? text : phaseMark(span.number)
  })
}
