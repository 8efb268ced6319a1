// Writes runs in words.
import { experimentFields } from '../../document/experiment/form/form.ts'
import { saidValue } from '../../document/experiment/form/setting_words.ts'
import { changesWords, fieldChanges } from '../../document/experiment/steered/field_changes.ts'
import { plannedTotal } from '../../document/experiment/steered/planned.ts'
import { isLive, type RecordStatus, type RunHeader } from '../../record/run/record.ts'
import { formatDuration, formatNumber, formatShare, NONE } from '../kit/format.ts'
import { locale } from '../kit/translator.ts'

const STATUS: Readonly<Record<RecordStatus, string>> = {
  running: 'training',
  paused: 'paused',
  finished: 'finished',
  stopped: 'stopped',
  failed: 'failed',
}

/** How a run is, or how it ended: interrupted by its page, which was closed, or stopped by a
 * person, or by a condition of its own. */
export function statusWord(header: RunHeader): string {
  const { status, step, was_left, source } = header
  if (source?.is_cut) return 'cut off'
  if (status === 'stopped' && was_left) return 'interrupted'
  return status === 'finished' && step < plannedOf(header) ? 'finished early' : STATUS[status]
}

function dateFormats() {
  const shortDay = { day: 'numeric', month: 'short' } as const
  const clock = { hour: '2-digit', minute: '2-digit' } as const
  const format = (parts: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale(), parts)
  return {
    day: format({ ...shortDay, year: 'numeric' }),
    dayAndTime: format({ ...shortDay, year: 'numeric', ...clock }),
    shortDay: format(shortDay),
    shortDayAndTime: format({ ...shortDay, ...clock }),
    time: format(clock),
  }
}

/** Today's runs by their time alone. */
export function whenText(at: number, now: number): string {
  if (Number.isNaN(at)) return NONE
  const { day, dayAndTime, time } = dateFormats()
  const isToday = day.format(at) === day.format(now)
  return (isToday ? time : dayAndTime).format(at)
}

/** The same for a narrow column: of an earlier day's run the day, with its year where that is
 * another, and apart from it the time. `whole` leaves nothing out. */
export function shortWhen(
  at: number,
  now: number,
): { readonly text: string; readonly clock?: string; readonly whole?: string } {
  if (Number.isNaN(at)) return { text: NONE }
  const { day, dayAndTime, shortDay, shortDayAndTime, time } = dateFormats()
  const whole = dayAndTime.format(at)
  if (day.format(at) === day.format(now)) return { text: time.format(at), whole }
  const isThisYear = new Date(at).getFullYear() === new Date(now).getFullYear()
  const text = (isThisYear ? shortDay : day).format(at)
  // A language has its own sign between a day and a time.
  const clock = (isThisYear ? shortDayAndTime : dayAndTime).format(at).slice(text.length)
  return { text, clock, whole }
}

/** Steps of the whole run: those that were taken, and those that were to come. */
export const plannedOf = (header: RunHeader): number =>
  plannedTotal({ ...header, steering: header.document.steering })

/** The fields that a person changed during the run, each with its values: 'Learning rate', '0.001,
 * then 0.0015 after step 78'. */
export function changedText(header: RunHeader): [label: string, values: string][] {
  const changes = fieldChanges(header)
  if (changes.size === 0) return []
  return experimentFields(header.experiment).flatMap(({ path, label }) => {
    const values = changes.get(path)
    const phase = /^phases\.(\d+)/.exec(path)
    const where = phase ? `Phase ${Number(phase[1]) + 1}: ` : ''
    return values ? [[`${where}${label}`, changesWords(values, saidValue)]] : []
  })
}

/** 'finished, 90 steps', 'cut off after step 25', 'cut off at step 3 of 4',
 * 'stopped at step 40 of 120', 'interrupted at step 40 of 120'. */
export function endText(header: RunHeader): string {
  const word = statusWord(header)
  if (word === 'finished') return `finished, ${header.step} steps`
  const planned = plannedOf(header)
  // How far a log was to go is not always known.
  if (word === 'cut off' && planned <= header.step) return `cut off after step ${header.step}`
  return `${word} at step ${header.step} of ${planned}`
}

/** Wall clock from the start to the end, pauses included; undefined during a run, where the clock
 * was set back, and of a log, whose times are those of the import. */
export const tookText = ({
  started_at,
  ended_at,
  status,
  source,
}: RunHeader): string | undefined =>
  source || ended_at === undefined || ended_at < started_at || isLive(status)
    ? undefined
    : formatDuration((ended_at - started_at) / 1000)

export const numberText = (value: number | undefined, isShare: boolean): string =>
  isShare ? formatShare(value) : formatNumber(value)

/** With its sign, for differences; percentage points for shares. */
export function differenceText(value: number, isShare: boolean): string {
  const scaled = isShare ? 100 * value : value
  const digits = isShare ? scaled.toFixed(1) : formatNumber(Math.abs(scaled))
  const size = isShare ? digits.replace('-', '') : digits
  const sign = Number(digits) === 0 ? '' : scaled < 0 ? '−' : '+'
  return `${sign}${size}${isShare ? ' points' : ''}`
}
