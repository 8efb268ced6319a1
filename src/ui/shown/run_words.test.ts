import { expect, test } from 'vitest'
import type { RunHeader } from '../../record/run/record.ts'
import { shortWhen, tookText } from './run_words.ts'

const header = (started_at: number, ended_at: number | undefined, status = 'finished') =>
  ({ started_at, ended_at, status }) as RunHeader

test('how long a run took is said where the clock says it', () => {
  expect(tookText(header(1000, 66_000))).toBe('1 min 05 s')
  expect(tookText(header(1000, undefined))).toBeUndefined()
  expect(tookText(header(1000, 66_000, 'running'))).toBeUndefined()
  // Someone has set it back meanwhile.
  expect(tookText(header(86_400_000, 1000))).toBeUndefined()
})

test('a narrow column has the time of today, the day of before, and the year of another', () => {
  const now = new Date(2026, 10, 30, 0, 12).getTime()
  const at = (...when: [number, number, number, number, number]) =>
    shortWhen(new Date(...when).getTime(), now)
  expect(at(2026, 10, 30, 0, 5)).toEqual({ text: '00:05', whole: '30 Nov 2026, 00:05' })
  expect(at(2026, 10, 29, 23, 59)).toEqual({
    text: '29 Nov',
    clock: ', 23:59',
    whole: '29 Nov 2026, 23:59',
  })
  expect(at(2025, 11, 31, 8, 0).text).toBe('31 Dec 2025')
  expect(shortWhen(Number.NaN, now)).toEqual({ text: '–' })
})
