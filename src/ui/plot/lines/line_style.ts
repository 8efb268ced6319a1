// Says how a line looks, and what it is drawn on.

export interface LineStyle {
  readonly color: string
  readonly width: number
  readonly dash: readonly number[]
  /** Marks every point; for metrics that are measured only now and then. */
  readonly dots: boolean
  /** 1 unless it lies behind another line. */
  readonly opacity?: number
}

/** The part of a 2D context that lines need: small enough to record in a test. */
export type LineContext = Pick<
  CanvasRenderingContext2D,
  | 'beginPath'
  | 'moveTo'
  | 'lineTo'
  | 'arc'
  | 'stroke'
  | 'fill'
  | 'setLineDash'
  | 'lineDashOffset'
  | 'strokeStyle'
  | 'fillStyle'
  | 'lineWidth'
  | 'lineJoin'
  | 'globalAlpha'
  | 'fillRect'
>
