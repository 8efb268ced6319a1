// Measures texts as the charts write them.

let context: CanvasRenderingContext2D | null | undefined

/** Pixels of a text in the font of the charts; 0 where nothing can be drawn. */
export function textWidth(text: string): number {
  if (!globalThis.document) return 0
  context ??= document.createElement('canvas').getContext('2d')
  if (!context) return 0
  context.font = `11px ${getComputedStyle(document.body).fontFamily}`
  return context.measureText(text).width
}
