// Draws the living picture: the layers of the run on the page as a forest; before a run, those of a
// recorded one.
import { type RefObject, useEffect, useRef, useState } from 'react'
import { useStore } from 'zustand'
import { type ShareState, shareStore } from '../../page/state/share_store.ts'
import type { LabState } from '../../page/state/store.ts'
import { Words } from '../glossary/Words.tsx'
import { useMedia } from '../kit/use_media.ts'
import { showPlayed } from '../open/scrub.ts'
import { useTextPace, writtenRun } from '../shown/readout.ts'
import { useLab } from '../shown/run.ts'
import { isImported, presentStore, useAtStep, usePresent } from '../shown/shown.ts'
import { uiStore } from '../shown/store.ts'
import { selectIsUnchosen } from '../shown/unchosen.ts'
import { useVisible } from '../shown/visible.ts'
import { paintForest, storeyAt } from './paint.ts'
import { captionOf, headline } from './says/captions.ts'
import {
  isMeasured,
  notMeasured,
  playedScene,
  RECORDED_ON,
  RECORDED_STEPS,
  runScene,
  type Scene,
  sceneLabels,
  sceneWords,
  shortSceneLabels,
  unmeasuredScene,
} from './scene.ts'
import './forest_key.css'

/** So long plays what is no run of this page: the recorded one with 3 steps a second. */
const PLAYED_MS = (1000 * RECORDED_STEPS) / 3
/** Enough for light and dust; the rest of the machine is the run's. */
const FRAME_MS = 33
/** Where no GPU draws: there a frame of the whole picture keeps a core busy for 15 ms. */
const FRAME_WITHOUT_GPU_MS = 100
/** The same while a run has news, as it needs the cores. */
const NEWS_WITHOUT_GPU_MS = 1000

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

const isPlayed = ({ isRecorded, isSent }: Scene): boolean => isRecorded === true || isSent === true

interface Painter {
  paint(scene: Scene, ms: number): void
  /** The recorded run, or the sender's, from 0 to 1. */
  played(share: number): Scene
  /** What words are of, where no run is on the page. */
  say(played: Scene): void
}

const hasGpu = () => presentStore.getState().adapter?.is_software === false

/** A screen's frame, by which an animation frame may come too early. */
const SCREEN_MS = 17

/** Paints frame after frame. Returns how to stop. */
function paintMoving({ paint: paintScene, played, say }: Painter): () => void {
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
    // Once, then its end; beside another tab it stands at its end, as the figures there do.
    const share = uiStore.getState().tab === 'learn' ? (now - begun) / PLAYED_MS : 1
    const target = sceneOf(presentStore.getState()) ?? played(share)
    if (isPlayed(target)) {
      showPlayed(target.step < target.steps ? target.step : undefined)
      say(target)
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
function paintStill(
  { paint: paintScene, played, say }: Painter,
  canvas: HTMLCanvasElement,
): () => void {
  let paintedAt = Number.NEGATIVE_INFINITY
  let timer: number | undefined
  const paint = () => {
    clearTimeout(timer)
    timer = undefined
    paintedAt = performance.now()
    const scene = sceneOf(presentStore.getState())
    const end = played(1)
    paintScene(scene ?? end, 0)
    if (!scene) say(end)
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
  const sent = useStore(shareStore)
  const [said, setSaid] = useState(() => playedScene(1, sent))
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
    const played = (share: number) => playedScene(share, sent)
    // Words change with a step, and with another run, not with each frame.
    const say = (now: Scene) =>
      setSaid((last) => (last.step === now.step && last.isSent === now.isSent ? last : now))
    return (isMoving ? paintMoving : paintStill)({ paint, played, say }, element)
  }, [canvas, isVisible, isMoving, sent])
  return sceneOf(writtenRun()) ?? said
}

/** Whose run plays, and where it is. */
export function Source({ scene: { isSent: isSenders, step, steps } }: { readonly scene: Scene }) {
  const isSent = useStore(shareStore, selectResult) !== undefined
  const isUnchosen = useLab(selectIsUnchosen)
  return (
    <p className="forest-source" title={isSenders ? undefined : RECORDED}>
      {isSenders
        ? `The sender’s run: step ${step} of ${steps}`
        : isSent
          ? `A recorded first run, not the sender’s: step ${step} of ${steps}`
          : isUnchosen
            ? `A recorded first run: step ${step} of ${steps}`
            : `A recorded first run, not this experiment: step ${step} of ${steps}`}
    </p>
  )
}

const selectResult = ({ result }: ShareState) => result

const RECORDED = `preset first-steps, on ${RECORDED_ON.adapter}, ${RECORDED_ON.date}`

const selectIsOver = ({ status }: LabState) => status === 'finished'

/** What happens in this phase, and at the end what happened in all; where neither was measured it
 * says so. */
function Caption({ isKnown }: { readonly isKnown: boolean }) {
  useTextPace()
  const isOver = usePresent(selectIsOver)
  const atStep = useAtStep()
  const run = writtenRun()
  const caption = captionOf(run, atStep, { isBrief: true })
  const cameTo = isOver && atStep === undefined ? headline(run) : undefined
  if (caption === '' && cameTo === undefined)
    return isKnown ? null : <p className="forest-source">{notMeasured()}</p>
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
        data-live={!isPlayed(scene)}
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
      {isPlayed(scene) ? (
        <>
          <Source scene={scene} />
          <p className="forest-key">Bright: sure of the next token. Nats say how undecided.</p>
        </>
      ) : (
        <Caption isKnown={isKnown} />
      )}
    </>
  )
}
