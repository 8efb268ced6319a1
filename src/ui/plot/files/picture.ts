// Makes a picture of a chart: recharts' frame, the lines, a title and what the lines are. Nothing
// in it comes from elsewhere.

import { cutText } from '../../../formats/cut_text.ts'
import { resolveColor } from '../../scales/css_colors.ts'
import { INSET } from '../../scales/geometry.ts'
import type { Key } from '../base/Keys.tsx'
import type { PlotHandle } from '../base/Plot.tsx'
import { clipTo } from '../base/plot_hooks.ts'
import { type Stroke, strokeAttributes } from '../lines/strokes.ts'
import { PNG_SCALE, pictureCanvas, pngFile, SVG, svgFile, svgNode } from './picture_file.ts'

export interface PictureContent {
  readonly title: string
  /** Whose numbers these are. */
  readonly run: string
  /** What the value axis counts. */
  readonly yLabel: string
  readonly keys: readonly Key[]
  readonly isDark: boolean
}

/** Title, run and value axis above the frame. */
const HEAD = 64
/** Below it. */
const X_LABEL = 14
/** Left and right of the frame: other fonts are wider. */
const MARGIN = 8
const KEY_ROW = 18
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif'

/** recharts' own drawing with every token resolved; its texts carry their font themselves. */
function frameOf(element: HTMLElement, isDark: boolean): SVGElement | undefined {
  const frame = element.querySelector('svg.recharts-surface')
  if (!frame) return undefined
  const copy = frame.cloneNode(true) as SVGElement
  for (const part of [copy, ...copy.querySelectorAll('*')])
    for (const { name, value } of [...part.attributes]) {
      const resolved = value.replaceAll(/var\((--[\w-]+)\)/g, (_, token: string) =>
        resolveColor(token, isDark),
      )
      if (resolved !== value) part.setAttribute(name, resolved)
    }
  copy.removeAttribute('style')
  return copy
}

/** A text with an ellipsis where it has no room; letters are reckoned half as wide as high, and a
 * little more. */
const cut = (text: string, width: number, fontSize: number): string =>
  cutText(text, Math.max(8, Math.floor(width / (0.52 * fontSize))))

/** The legend, broken into rows of `width`; letters are reckoned 6.2 pixels wide. */
function keyRows(keys: readonly Key[], width: number): Key[][] {
  const rows: Key[][] = []
  let room = 0
  for (const key of keys) {
    const needed = 40 + 6.2 * key.label.length
    if (rows.length === 0 || needed > room) {
      rows.push([])
      room = width
    }
    rows[rows.length - 1].push(key)
    room -= needed
  }
  return rows
}

/** The legend of a picture of this width below `top`, and how high it is. */
export function legendOf(
  keys: readonly Key[],
  { width, top, isDark }: { readonly width: number; readonly top: number; isDark: boolean },
): { readonly parts: readonly SVGElement[]; readonly height: number } {
  const colour = (name: string) => (name.startsWith('--') ? resolveColor(name, isDark) : name)
  const rows = keyRows(
    keys.map((key) => ({ ...key, label: cut(key.label, width - 56, 12) })),
    width - 16,
  )
  const parts = rows.flatMap((row, index) => {
    const y = top + (index + 1) * KEY_ROW - 4
    let x = 12
    return row.flatMap(({ label, color, width: stroke = 1.5, dash = [] }) => {
      const line = { x1: x, x2: x + 20, y1: y - 4, y2: y - 4, stroke: colour(color) }
      const text = { x: x + 25, y, fill: colour('--ink'), 'font-size': 12 }
      x += 40 + 6.2 * label.length
      return [
        svgNode('line', { ...line, 'stroke-width': stroke, 'stroke-dasharray': dash.join(' ') }),
        svgNode('text', text, label),
      ]
    })
  })
  return { parts, height: rows.length * KEY_ROW }
}

interface Picture {
  readonly svg: SVGElement
  /** Where the lines go. */
  readonly plot: SVGElement
  readonly width: number
  readonly height: number
}

/** All of the picture but its lines. */
function shell({ element, view }: PlotHandle, content: PictureContent): Picture {
  const { title, run, yLabel, keys, isDark } = content
  const colour = (name: string) => resolveColor(name, isDark)
  const { left = INSET.left, top = INSET.top } = view
  const width = view.width + left + INSET.right + 2 * MARGIN
  const frameHeight = view.height + top + INSET.bottom
  const keysTop = HEAD + frameHeight + X_LABEL
  const legend = legendOf(keys, { width, top: keysTop, isDark })
  const height = keysTop + legend.height + 10
  const size = { width, height, viewBox: `0 0 ${width} ${height}` }
  const svg = svgNode('svg', { xmlns: SVG, ...size, 'font-family': FONT, 'font-size': 12 })
  svg.append(svgNode('title', {}, title))
  svg.append(svgNode('rect', { width, height, fill: colour('--panel') }))
  const head = { x: 12, y: 20, fill: colour('--ink'), 'font-size': 14, 'font-weight': 600 }
  svg.append(svgNode('text', head, cut(title, width - 24, 14)))
  const small = { x: 12, fill: colour('--soft'), 'font-size': 11 }
  svg.append(svgNode('text', { ...small, y: 38 }, cut(run, width - 24, 11)))
  svg.append(svgNode('text', { ...small, y: 57 }, `↑ ${cut(yLabel, width - 36, 11)}`))
  const right = { x: width - MARGIN - INSET.right, y: HEAD + frameHeight + 8 }
  const steps = view.scale ? 'step (each phase has the same width) →' : 'step →'
  svg.append(svgNode('text', { ...small, ...right, 'text-anchor': 'end' }, steps))
  const body = svgNode('g', { transform: `translate(${MARGIN} ${HEAD})` })
  const frame = frameOf(element, isDark)
  if (frame) body.append(frame)
  const clip = svgNode('clipPath', { id: 'plot' })
  clip.append(svgNode('rect', { x: 0, y: -4, width: view.width + 4, height: view.height + 8 }))
  const plot = svgNode('g', {
    transform: `translate(${left} ${top})`,
    'clip-path': 'url(#plot)',
  })
  body.append(clip, plot)
  svg.append(body, ...legend.parts)
  return { svg, plot, width, height }
}

/** What a plot paints, as an image of the size of the plot. */
function painted({ view, paint }: PlotHandle): SVGElement {
  const { width, height } = view
  const ctx = pictureCanvas(width, height)
  paint(ctx, view, PNG_SCALE)
  return svgNode('image', { width, height, href: ctx.canvas.toDataURL() })
}

/** The chart as an SVG of its own: one path per line; without lines, what is painted as an
 * image. */
export function chartSvg(
  handle: PlotHandle,
  content: PictureContent,
  strokes: readonly Stroke[] | undefined,
): Blob {
  const { svg, plot } = shell(handle, content)
  if (!strokes) plot.append(painted(handle))
  for (const stroke of strokes ?? []) {
    const attributes = strokeAttributes(stroke, handle.view)
    if (attributes.d !== '') plot.append(svgNode('path', attributes))
  }
  return svgFile(svg)
}

/** The chart as a PNG: the frame as an image, and the canvas painted again above it. */
export function chartPng(handle: PlotHandle, content: PictureContent): Promise<Blob> {
  const { svg, width, height } = shell(handle, content)
  return pngFile(svg, width, height, (ctx) => {
    const { left = INSET.left, top = INSET.top } = handle.view
    ctx.translate(MARGIN + left, HEAD + top)
    clipTo(ctx, handle.view)
    handle.paint(ctx, handle.view, PNG_SCALE)
  })
}
