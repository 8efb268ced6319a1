import { expect, test } from 'vitest'
import { LabFailure } from './command.ts'
import { train } from './train.ts'

test('a run that would wait for a person is refused before anything is opened, with the way out', async () => {
  const refused = train.run(['rlhf-clicks'])
  await expect(refused).rejects.toThrow(LabFailure)
  await expect(refused).rejects.toThrow(
    /^phases\.1\.pairs\.source: 'human' asks the person at the page, .*'judge'.* phases\.1\.pairs\.verdicts/,
  )
})
