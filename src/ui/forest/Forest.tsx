// Draws the living picture: the layers of the run on the page as a forest; before a run, those of a
// recorded one.
import { type RefObject, useEffect, useRef, useState } from 'react'
import type { LabState } from '../../page/state/store.ts'
import { Words } from '../glossary/Words.tsx'
import { useMedia } from '../kit/use_media.ts'
import { showPlayed } from '../open/scrub.ts'
import { useTextPace, writtenRun } from '../shown/readout.ts'
import { isImported, presentStore, useAtStep, usePresent } from '../shown/shown.ts'
import { uiStore } from '../shown/store.ts'
import { useVisible } from '../shown/visible.ts'
import { paintForest, storeyAt } from './paint.ts'
import { captionOf, headline } from './says/captions.ts'
import {
  isMeasured,
  NOT_MEASURED,
  RECORDED_ON,
  RECORDED_STEPS,
  recordedScene,
  runScene,
  type Scene,
  sceneLabels,
  sceneWords,
  shortSceneLabels,
  unmeasuredScene,
} from './scene.ts'
import './forest_key.css'

/** How fast the recorded run plays. */
const STEPS_PER_SECOND = 3
/** Enough for light and dust; the rest of the machine is the run's. */
const FRAME_MS = 33
/** Where no GPU draws: there a frame of the whole picture keeps a core busy for 15 ms. */
const FRAME_WITHOUT_GPU_MS = 100
/** The same while a run has news, as it needs the cores. */
const NEWS_WITHOUT_GPU_MS = 1000

/** The recorded run so long after it began to play: once, then its end. Beside another tab it
 * stands at its end, as the figures there do. */
function playedAt(ms: number): Scene {
  const isPlayed = uiStore.getState().tab === 'learn'
  return recordedScene(isPlayed ? 1 + (ms / 1000) * STEPS_PER_SECOND : RECORDED_STEPS)
}

/** Of a run, measured or not; undefined without one. */
function sceneOf(run: LabState): Scene | undefined {
  const { atStep } = uiStore.getState()
  return runScene(run, atStep) ?? unmeasuredScene(run, atStep)
}

/** Moves from scene to scene, so that a step is not a jump. */
function eased(from: Scene | undefined, to: Scene): Scene {
  if (!from || !isMeasured(from) || !isMeasured(to)) return to
  if (from.entropy.length !== to.entropy.length) return to
  const entropy = to.entropy.map((nats, l) => from.entropy[l] + 0.18 * (nats - from.entropy[l]))
  return { ...to, entropy, highest: Math.max(to.highest, ...entropy) }
}

/** Paints a scene in the size that the canvas has now. */
function paintOn(canvas: HTMLCanvasElement, scene: Scene, ms: number): void {
  const context = canvas.getContext('2d')
  const { clientWidth: width, clientHeight: height } = canvas
  if (!context || width === 0) return
  const scale = Math.min(2, devicePixelRatio)
  const [wide, high] = [Math.round(width * scale), Math.round(height * scale)]
  if (canvas.width !== wide || canvas.height !== high) [canvas.width, canvas.height] = [wide, high]
  context.setTransform(scale, 0, 0, scale, 0, 0)
  paintForest(context, { width, height }, scene, { isDark: uiStore.getState().isDark, ms })
}

interface Painter {
  paint(scene: Scene, ms: number): void
  /** A step of the recorded run is what words are of. */
  say(step: number): void
}

const hasGpu = () => presentStore.getState().adapter?.is_software === false

/** A screen's frame, by which an animation frame may come too early. */
const SCREEN_MS = 17

/** Paints frame after frame. Returns how to stop. */
function paintMoving({ paint: paintScene, say }: Painter): () => void {
  let [request, timer] = [0, 0]
  let begun: number | undefined
  let shown: Scene | undefined
  const paint = (now: number) => {
    // An animation frame that is asked for costs the browser a frame, painted or not.
    timer = window.setTimeout(
      () => {
        request = requestAnimationFrame(paint)
      },
      (hasGpu() ? FRAME_MS : FRAME_WITHOUT_GPU_MS) - SCREEN_MS,
    )
    begun ??= now
    const target = sceneOf(presentStore.getState()) ?? playedAt(now - begun)
    if (target.isRecorded) {
      showPlayed(target.step < target.steps ? target.step : undefined)
      say(target.step)
    }
    shown = eased(shown, target)
    paintScene(shown, now)
  }
  request = requestAnimationFrame(paint)
  return () => {
    clearTimeout(timer)
    cancelAnimationFrame(request)
    showPlayed(undefined)
  }
}

/** Paints when there is something new to see. Returns how to stop. */
function paintStill({ paint: paintScene, say }: Painter, canvas: HTMLCanvasElement): () => void {
  let paintedAt = Number.NEGATIVE_INFINITY
  let timer: number | undefined
  const paint = () => {
    clearTimeout(timer)
    timer = undefined
    paintedAt = performance.now()
    const scene = sceneOf(presentStore.getState())
    const end = recordedScene(RECORDED_STEPS)
    paintScene(scene ?? end, 0)
    if (!scene) say(end.step)
  }
  const paintNews = () => {
    const waitMs = hasGpu() ? 0 : paintedAt + NEWS_WITHOUT_GPU_MS - performance.now()
    if (waitMs <= 0) paint()
    else timer ??= window.setTimeout(paint, waitMs)
  }
  const sizes = new ResizeObserver(paint)
  sizes.observe(canvas)
  const stop = uiStore.subscribe((now, before) => {
    // What the person changes is seen at once.
    if (now.isDark !== before.isDark || now.atStep !== before.atStep) paint()
    else if (now.frame !== before.frame) paintNews()
  })
  return () => {
    clearTimeout(timer)
    sizes.disconnect()
    stop()
  }
}

/** Whether the picture moves: before a run, and while one runs on a GPU of its own. A software
 * adapter needs every core. */
const selectMoves = ({ status, adapter, runExperiment }: LabState): boolean =>
  runExperiment === undefined || (status === 'running' && adapter?.is_software === false)

/** Paints while the picture is in view; what it shows, for words: of a run what all words of the
 * page are of. */
function usePainting(canvas: RefObject<HTMLCanvasElement | null>): Scene {
  const isVisible = useVisible(canvas)
  const isUnwelcome = useMedia('(prefers-reduced-motion: reduce)')
  const isMoving = usePresent(selectMoves) && !isUnwelcome
  useTextPace()
  const [played, setPlayed] = useState(RECORDED_STEPS)
  // What throws outside of rendering would stop whatever else follows the stores: it is thrown
  // again where the part breaks alone.
  const [broken, setBroken] = useState<{ readonly error: unknown }>()
  if (broken) throw broken.error
  useEffect(() => {
    const element = canvas.current
    if (!element || !isVisible) return
    const paint = (scene: Scene, ms: number) => {
      try {
        paintOn(element, scene, ms)
      } catch (error) {
        setBroken({ error })
      }
    }
    return (isMoving ? paintMoving : paintStill)({ paint, say: setPlayed }, element)
  }, [canvas, isVisible, isMoving])
  return sceneOf(writtenRun()) ?? recordedScene(played)
}

const RECORDED = `preset first-steps, on ${RECORDED_ON.adapter}, ${RECORDED_ON.date}`

const selectIsOver = ({ status }: LabState) => status === 'finished'

/** What happens in this phase, and at the end what happened in all; where neither was measured it
 * says so. */
function Caption({ isKnown }: { readonly isKnown: boolean }) {
  useTextPace()
  const isOver = usePresent(selectIsOver)
  const atStep = useAtStep()
  const run = writtenRun()
  const caption = captionOf(run, atStep, true)
  const cameTo = isOver && atStep === undefined ? headline(run) : undefined
  if (caption === '' && cameTo === undefined)
    return isKnown ? null : <p className="forest-source">{NOT_MEASURED}</p>
  return (
    <div className="forest-caption" data-testid="forest-caption">
      {cameTo === undefined ? (
        <p>
          <Words text={caption} />
        </p>
      ) : (
        <h2 data-testid="headline">{cameTo}</h2>
      )}
    </div>
  )
}

export function Forest() {
  const canvas = useRef<HTMLCanvasElement>(null)
  const scene = usePainting(canvas)
  const isKnown = isMeasured(scene)
  // Of a log only the settings that it states are known, and its model is none of them.
  const labels = isKnown || !isImported() ? sceneLabels(scene) : []
  const short = shortSceneLabels(scene)
  return (
    <>
      <canvas
        ref={canvas}
        className="forest-canvas"
        role="img"
        aria-label="The layers of the model as a forest"
        aria-describedby="forest-words"
        data-testid="forest"
        data-live={scene.isRecorded !== true}
        data-step={scene.step}
      />
      <p id="forest-words" className="visually-hidden">
        {sceneWords(scene)}
      </p>
      <ol className="forest-labels" aria-hidden="true">
        {labels.map((label, i) => (
          <li
            key={label.replace(/ [^ ]*$/, '')}
            style={{ top: `${100 * storeyAt(i, labels.length)}%` }}
            data-trained={labels.length - 1 - i === scene.trained}
            data-short={short[i]}
          >
            <span>{isKnown ? `${label} nats` : label}</span>
          </li>
        ))}
      </ol>
      {scene.isRecorded ? (
        <>
          <p className="forest-source" title={RECORDED}>
            A recorded first run: step {scene.step} of {scene.steps}
          </p>
          <p className="forest-key">Bright: sure of the next token. Nats say how undecided.</p>
        </>
      ) : (
        <Caption isKnown={isKnown} />
      )}
    </>
  )
}
