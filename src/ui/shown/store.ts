// Holds what belongs to the page and not to the run, such as theme, hover and hidden lines, and
// remembers what should last.
import * as z from 'zod/mini'
import { createStore } from 'zustand/vanilla'
import { type Tab, tabOf, viewHash } from '../../document/links/view.ts'
import { remembered } from '../../page/state/remembered.ts'
import { DEFAULT_THRESHOLD } from '../../record/diagnosis/threshold.ts'
import { DEFAULT_KEPT_BYTES } from '../../record/run/kept_run.ts'
import { pushEntry } from '../kit/way_back.ts'
import type { Zoom } from '../scales/zoom.ts'

export type Theme = 'system' | 'light' | 'dark'

export interface UiState {
  theme: Theme
  /** What the theme comes to on this screen. */
  isDark: boolean
  shortcuts_on: boolean
  /** The screen stays on during a run. */
  keep_awake: boolean
  settings_open: boolean
  /** Runs are looked at in moments (validations, ends of phases), whatever is open. */
  moments_on: boolean
  /** Nats from which on a feed-forward counts as raising the entropy, for the suggested layer. */
  ffn_threshold: number
  /** What of the page is open. */
  tab: Tab
  /** The step that the whole page shows; undefined: the newest. */
  atStep: number | undefined
  /** Step under the pointer, on every chart at once. */
  hoverStep: number | undefined
  hiddenLines: ReadonlySet<string>
  /** Charts whose value axis, and charts whose step axis, is logarithmic, by id. */
  logY: ReadonlySet<string>
  logX: ReadonlySet<string>
  /** Weight of the charts' smoothing, 0 … 1; 0 is off, and what is near 1 is drawn as
   * MAX_WEIGHT. */
  smoothing: number
  /** Every phase has the same width on the axis of steps; else the axis is even. */
  equal_phases: boolean
  /** Bytes that are kept for looking back, of each kind. */
  kept_bytes: number
  /** Steps that all charts show, when someone chose them. */
  zoom: Zoom | undefined
  toast: string
  /** The setting to be shown now; a new object asks again. */
  wantedSetting: { readonly path: string } | undefined
  /** Counts redraws: at most ten a second, none while the page is hidden. */
  frame: number
}

const darkScreen = globalThis.matchMedia?.('(prefers-color-scheme: dark)')

/** Nats that a threshold can be. */
export const HIGHEST_THRESHOLD = 10

export const isThreshold = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value <= HIGHEST_THRESHOLD

const number = (low: number, high: number) => z.number().check(z.minimum(low), z.maximum(high))

/** Settings have room beside the run. Where they lie above it they are folded, whatever is
 * remembered. */
const beside = globalThis.matchMedia?.('(min-width: 900px)')
const hasRoom = () => beside?.matches ?? true

const FIRST = {
  theme: 'system',
  shortcuts_on: true,
  keep_awake: false,
  settings_open: true,
  moments_on: true,
  ffn_threshold: DEFAULT_THRESHOLD,
  smoothing: 0,
  equal_phases: false,
  kept_bytes: DEFAULT_KEPT_BYTES,
} as const

const preferencesSchema = z.object({
  theme: z.catch(z.enum(['system', 'light', 'dark']), FIRST.theme),
  shortcuts_on: z.catch(z.boolean(), FIRST.shortcuts_on),
  keep_awake: z.catch(z.boolean(), FIRST.keep_awake),
  settings_open: z.catch(z.boolean(), FIRST.settings_open),
  moments_on: z.catch(z.boolean(), FIRST.moments_on),
  ffn_threshold: z.catch(number(0, 10), FIRST.ffn_threshold),
  smoothing: z.catch(number(0, 1), FIRST.smoothing),
  equal_phases: z.catch(z.boolean(), FIRST.equal_phases),
  /** Between one and a thousand megabytes. */
  kept_bytes: z.catch(number(1e6, 1e9), FIRST.kept_bytes),
})
type Preferences = z.infer<typeof preferencesSchema>
const kept = remembered('ui', preferencesSchema, FIRST)

const isDark = (theme: Theme) =>
  theme === 'dark' || (theme === 'system' && darkScreen?.matches === true)

const first = kept.get()

export const uiStore = createStore<UiState>()(() => ({
  ...first,
  settings_open: first.settings_open && hasRoom(),
  isDark: isDark(first.theme),
  tab: tabOf(globalThis.location?.hash ?? ''),
  atStep: undefined,
  hoverStep: undefined,
  hiddenLines: new Set<string>(),
  logY: new Set<string>(),
  logX: new Set<string>(),
  zoom: undefined,
  toast: '',
  wantedSetting: undefined,
  frame: 0,
}))

/** Sets what is remembered, and remembers it where the browser lets us. */
export function setPreference(change: Partial<Preferences>): void {
  uiStore.setState(change)
  uiStore.setState(({ theme }) => ({ isDark: isDark(theme) }))
  const { settings_open } = hasRoom() ? uiStore.getState() : kept.get()
  kept.set(preferencesSchema.parse({ ...uiStore.getState(), settings_open }))
}

/** Where the settings stand above the run, they give way to one that begins. */
export function foldOverRun(): void {
  if (hasRoom() || !uiStore.getState().settings_open) return
  uiStore.setState({ settings_open: false })
  scrollTo(0, 0)
}

beside?.addEventListener('change', () =>
  uiStore.setState({ settings_open: hasRoom() && kept.get().settings_open }),
)

/** Keeps <html data-theme> and `isDark` in step with the choice and with the screen. */
export function followTheme(): void {
  const apply = () => {
    const { theme } = uiStore.getState()
    document.documentElement.dataset.theme = theme
    uiStore.setState({ isDark: isDark(theme) })
  }
  darkScreen?.addEventListener('change', apply)
  uiStore.subscribe((now, before) => {
    if (now.theme !== before.theme) apply()
  })
  apply()
}

/** The page shows studies, which are about other runs than the current one. */
export const selectIsStudy = ({ tab }: UiState): boolean => tab === 'study'

/** Opens a part of the page. The address says so, and the browser's *Back* returns to the part
 * before. */
export function openTab(tab: Tab): void {
  uiStore.setState({ tab })
  const { pathname, search, hash } = location
  if (tabOf(hash) === tab) return
  pushEntry(`${pathname}${search}${viewHash(tab, hash)}`)
}

/** Shows a short message; the newest replaces the one before. */
export function showToast(toast: string): void {
  uiStore.setState({ toast })
}

/** Shows or hides a line; `only` shows this one of `all` alone, or all again if it already is. */
export function toggleLine(key: string, all: readonly string[], only: boolean): void {
  uiStore.setState(({ hiddenLines }) => {
    const next = new Set(hiddenLines)
    if (!only) {
      if (!next.delete(key)) next.add(key)
      return { hiddenLines: next }
    }
    const alone = all.every((other) => next.has(other) === (other !== key))
    for (const other of all) {
      if (alone || other === key) next.delete(other)
      else next.add(other)
    }
    return { hiddenLines: next }
  })
}

/** Makes an axis of a chart logarithmic, or even again. */
export function toggleLog(axis: 'logX' | 'logY', chart: string): void {
  uiStore.setState((state) => {
    const next = new Set(state[axis])
    if (!next.delete(chart)) next.add(chart)
    return { [axis]: next }
  })
}

/** Whether this browser can keep the screen awake (notices/wake_lock.ts). */
export const canKeepAwake = (): boolean => globalThis.navigator?.wakeLock !== undefined
