// The worker's side of a person's program: a question, and the answers to that question alone.
import { expect, test } from 'vitest'
import type { RunProgram } from './messages.ts'
import { ProgramCalls } from './program_calls.ts'

const program = { code: 'sha256-x', name: 'a.js', source: '', timeout_ms: 1, batch_timeout_ms: 1 }

test('answers reach the one who asked, others are left alone', async () => {
  const asked: RunProgram[] = []
  const calls = new ProgramCalls((event) => asked.push(event))
  const first = calls.ask(program, 'compute_score', [{ a: 1 }])
  const second = calls.ask(program, 'compute_score', [])
  expect(asked.map(({ calls }) => calls)).toEqual([[{ a: 1 }], []])
  const [a, b] = asked
  calls.hear({ type: 'program_answers', id: 'of another worker', answers: [] })
  calls.hear({ type: 'program_answers', id: b.id, answers: [], failed: 'no file' })
  calls.hear({ type: 'program_answers', id: a.id, answers: [{ value: 1 }] })
  expect(await first).toEqual([{ value: 1 }])
  await expect(second).rejects.toThrow('no file')
})
