// Saves the visible part of a figure as an SVG or a PNG. The picture loads nothing from elsewhere.

import { resolveColor } from '../../scales/css_colors.ts'
import type { Key } from '../base/Keys.tsx'
import { legendOf } from './picture.ts'
import { pngFile, SVG, svgFile, svgNode } from './picture_file.ts'

const HEAD = 52
const MARGIN = 12
/** What a drawing takes from the page's style sheets. */
const STYLES = [
  'fill',
  'fill-opacity',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'stroke-opacity',
  'opacity',
  'font-size',
  'font-weight',
  'text-anchor',
  'dominant-baseline',
] as const
/** Words that belong to the picture; notes and controls do not. */
const WORDS =
  'h3, .figure-step, .figure-keys li, .readout, .chart-readout, .lines-values li, .map-name'
const LEFT_OUT =
  '.chart-files, .chart-menu, .chart-numbers, .still-figure > figcaption, fieldset, button, label'

/** A drawing of the page with its styles written out, at its place. */
function drawing(svg: SVGElement, at: { x: number; y: number }): SVGElement {
  const copy = svg.cloneNode(true) as SVGElement
  const parts = [copy, ...copy.querySelectorAll<SVGElement>('*')]
  const originals = [svg, ...svg.querySelectorAll<SVGElement>('*')]
  originals.forEach((original, i) => {
    const style = getComputedStyle(original)
    const part = parts[i]
    part.removeAttribute('style')
    part.removeAttribute('class')
    for (const name of STYLES) part.setAttribute(name, style.getPropertyValue(name))
  })
  const { width, height } = svg.getBoundingClientRect()
  for (const [name, value] of Object.entries({ ...at, width, height }))
    copy.setAttribute(name, String(value))
  return copy
}

/** The words of an element, a text for each of its lines. */
function lines(element: HTMLElement): { text: string; x: number; bottom: number }[] {
  const found: { text: string; x: number; bottom: number }[] = []
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
  for (let text = walker.nextNode(); text; text = walker.nextNode())
    for (const { index, 0: word } of (text.textContent ?? '').matchAll(/\S+/g)) {
      const range = document.createRange()
      range.setStart(text, index)
      range.setEnd(text, index + word.length)
      const { left, bottom, width } = range.getBoundingClientRect()
      if (width === 0) continue
      const last = found.at(-1)
      if (last && Math.abs(last.bottom - bottom) < 4) last.text += ` ${word}`
      else found.push({ text: word, x: left, bottom })
    }
  return found
}

export interface FigureContent {
  readonly title: string
  /** Whose numbers these are. */
  readonly run: string
  readonly isDark: boolean
  /** What its lines are, where the figure itself does not say it. */
  readonly keys?: readonly Key[]
}

/** What is seen of a figure: its title, then everything at its place. */
function picture(body: HTMLElement, { title, run, isDark, keys = [] }: FigureContent) {
  const box = body.getBoundingClientRect()
  const width = box.width + 2 * MARGIN
  const at = ({ left, top }: { left: number; top: number }) => ({
    x: left - box.left + MARGIN,
    y: top - box.top + HEAD,
  })
  const shown = <E extends Element>(selector: string) =>
    [...body.querySelectorAll<E>(selector)].filter(
      (element) => !element.closest(LEFT_OUT) && element.getClientRects().length > 0,
    )
  const parts: SVGElement[] = []
  let bottom = HEAD
  const add = (part: SVGElement, element: Element) => {
    parts.push(part)
    bottom = Math.max(bottom, element.getBoundingClientRect().bottom - box.top + HEAD)
  }
  for (const svg of shown<SVGElement>('svg'))
    if (!svg.parentElement?.closest('svg')) add(drawing(svg, at(svg.getBoundingClientRect())), svg)
  for (const canvas of shown<HTMLCanvasElement>('canvas')) {
    const rect = canvas.getBoundingClientRect()
    const { width, height } = rect
    add(svgNode('image', { ...at(rect), width, height, href: canvas.toDataURL() }), canvas)
  }
  for (const cursor of shown<HTMLElement>('.cursor')) {
    const rect = cursor.getBoundingClientRect()
    const { width, height } = rect
    const fill = getComputedStyle(cursor).backgroundColor
    add(svgNode('rect', { ...at(rect), width, height, fill }), cursor)
  }
  for (const element of shown<HTMLElement>(WORDS)) {
    const { fontSize, fontWeight, color } = getComputedStyle(element)
    for (const { text, x, bottom: base } of lines(element)) {
      const place = { x: x - box.left + MARGIN, y: base - box.top + HEAD - 4 }
      const part = svgNode('text', {
        ...place,
        fill: color,
        'font-size': fontSize,
        'font-weight': fontWeight,
      })
      part.textContent = text
      add(part, element)
    }
  }
  const legend = legendOf(keys, { width, top: bottom + 4, isDark })
  const height = Math.ceil(bottom + legend.height + MARGIN)
  const font = getComputedStyle(body).fontFamily
  const svg = svgNode('svg', { xmlns: SVG, width, height, 'font-family': font })
  const head = svgNode('text', {
    x: MARGIN,
    y: 22,
    fill: resolveColor('--ink', isDark),
    'font-size': 15,
    'font-weight': 600,
  })
  head.textContent = title
  const whose = svgNode('text', { x: MARGIN, y: 41, fill: resolveColor('--soft', isDark) })
  whose.setAttribute('font-size', '12')
  whose.textContent = run
  svg.append(svgNode('rect', { width, height, fill: resolveColor('--panel', isDark) }), head, whose)
  svg.append(...parts, ...legend.parts)
  return { svg, width, height }
}

/** The figure as an SVG of its own; heat maps and lines that are painted are images in it. */
export const figureSvg = (body: HTMLElement, content: FigureContent): Blob =>
  svgFile(picture(body, content).svg)

/** The same in pixels. Throws where the browser gives no canvas. */
export function figurePng(body: HTMLElement, content: FigureContent): Promise<Blob> {
  const { svg, width, height } = picture(body, content)
  return pngFile(svg, width, height)
}
