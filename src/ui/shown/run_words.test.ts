import { expect, test } from 'vitest'
import type { RunHeader } from '../../record/run/record.ts'
import { tookText } from './run_words.ts'

const header = (started_at: number, ended_at: number | undefined, status = 'finished') =>
  ({ started_at, ended_at, status }) as RunHeader

test('how long a run took is said where the clock says it', () => {
  expect(tookText(header(1000, 66_000))).toBe('1 min 05 s')
  expect(tookText(header(1000, undefined))).toBeUndefined()
  expect(tookText(header(1000, 66_000, 'running'))).toBeUndefined()
  // Someone has set it back meanwhile.
  expect(tookText(header(86_400_000, 1000))).toBeUndefined()
})
