// Makes pictures: elements of an SVG, its text, and its pixels.
import { xmlText } from '../../kit/xml_text.ts'

export const SVG = 'http://www.w3.org/2000/svg'
/** Pixels of a PNG per CSS pixel. */
export const PNG_SCALE = 2

export function svgNode(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  text?: string,
): SVGElement {
  const element = document.createElementNS(SVG, name)
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value))
  if (text !== undefined) element.textContent = text
  return element
}

const textOf = (svg: SVGElement) => xmlText(new XMLSerializer().serializeToString(svg))

export const svgFile = (svg: SVGElement): Blob => new Blob([textOf(svg)], { type: 'image/svg+xml' })

/** A canvas of so many CSS pixels, scaled as pictures are. Throws where the browser gives none. */
export function pictureCanvas(width: number, height: number): CanvasRenderingContext2D {
  const canvas = document.createElement('canvas')
  canvas.width = width * PNG_SCALE
  canvas.height = height * PNG_SCALE
  const ctx = canvas.getContext('2d')
  if (!ctx) throw new Error('this browser gives no canvas to draw the picture on')
  ctx.scale(PNG_SCALE, PNG_SCALE)
  return ctx
}

/** An SVG of this size in pixels, with what `paint` draws over it. */
export async function pngFile(
  svg: SVGElement,
  width: number,
  height: number,
  paint?: (ctx: CanvasRenderingContext2D) => void,
): Promise<Blob> {
  const image = new Image(width, height)
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(textOf(svg))}`
  await image.decode()
  const ctx = pictureCanvas(width, height)
  ctx.drawImage(image, 0, 0, width, height)
  paint?.(ctx)
  return new Promise((resolve, reject) =>
    ctx.canvas.toBlob(
      (blob) =>
        blob ? resolve(blob) : reject(new Error('the browser could not write the picture')),
      'image/png',
    ),
  )
}
