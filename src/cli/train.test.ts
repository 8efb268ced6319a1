import { expect, test } from 'vitest'
import { LabFailure, UsageError } from './command.ts'
import { train } from './train.ts'

test('a run that would wait for a person is refused before anything is opened, with the way out', async () => {
  const refused = train.run(['rlhf-clicks'])
  await expect(refused).rejects.toThrow(LabFailure)
  await expect(refused).rejects.toThrow(
    /^phases\.1\.pairs\.source: 'human' asks the person at the page, .*'judge'.* phases\.1\.pairs\.verdicts/,
  )
})

const HUGE =
  'https://understory.example/?v=1&p=two-skills-bupo&model.hidden_size=512&model.num_hidden_layers=48&model.intermediate_size=4096' +
  '&rollout.train_batch_size=1024&rollout.n=64&actor.ppo_mini_batch_size=1024&rollout.max_response_length=64'

test('a run that adds up to much memory is refused before anything is opened, with the option that allows it', async () => {
  for (const args of [[HUGE], [HUGE, '--allow-memory', '5']]) {
    const refused = train.run(args)
    await expect(refused).rejects.toThrow(LabFailure)
    await expect(refused).rejects.toThrow(/would take \d+(\.\d+)? GiB .*--allow-memory \d+/s)
  }
  await expect(train.run([HUGE, '--allow-memory', 'all'])).rejects.toThrow(UsageError)
})
