import { expect, test } from 'vitest'
import { LabFailure, UsageError } from './base/command.ts'
import { record } from './record.ts'

test('what cannot be recorded is refused before anything is opened', async () => {
  const human = record.run(['rlhf-clicks', '--out', 'x.json'])
  await expect(human).rejects.toThrow(LabFailure)
  await expect(human).rejects.toThrow(/^phases\.1\.pairs\.source: .*'judge'/)
  const steered = record.run(['?v=1&p=tiny&steering.0=40,next_phase', '--out', 'x.json'])
  await expect(steered).rejects.toThrow(/^steering: .*take it out/)
})

test('a command line that cannot be meant says what is missing', async () => {
  const refusal = (...args: string[]) => expect(record.run(args)).rejects
  await refusal('tiny').toThrow(UsageError)
  await refusal('tiny').toThrow(/needs --out FILE/)
  await refusal('--out', 'x.json').toThrow(/takes one experiment/)
  await refusal('tiny', '--out', 'x.json', '--seed', 'a').toThrow(/whole number/)
})

test('what cannot become a file is refused before anything is trained', async () => {
  await expect(record.run(['tiny', '--out', 'src'])).rejects.toThrow(
    '--out: src is a folder; name a file',
  )
  await expect(record.run(['tiny', '--out', 'nowhere/x.json'])).rejects.toThrow(
    '--out: there is no folder nowhere to write a file into',
  )
})
