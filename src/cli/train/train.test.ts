import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { LabFailure, UsageError } from '../base/command.ts'
import { train } from './train.ts'

test('a run that would wait for a person is refused before anything is opened, with the way out', async () => {
  const refused = train.run(['rlhf-clicks'])
  await expect(refused).rejects.toThrow(LabFailure)
  await expect(refused).rejects.toThrow(
    /^phases\.1\.pairs\.source: 'human' asks the person at the page, .*'judge'.* phases\.1\.pairs\.verdicts/,
  )
})

test('a dry run says what would be trained and what it needs, and makes nothing', async () => {
  const said: string[] = []
  const log = vi.spyOn(console, 'log').mockImplementation((line: string) => void said.push(line))
  const error = vi.spyOn(console, 'error').mockImplementation(() => {})
  const out = join(tmpdir(), 'understory-dry-run')
  const set = ['--set', 'phases.0.steps=5', '--set', 'rollout.n=2']
  expect(await train.run(['tiny', ...set, '--dry-run', '--out', out])).toBe(0)
  log.mockRestore()
  error.mockRestore()
  expect(said.join('\n')).toMatch(
    /Nothing is trained\.\n {2}task .*sort_digits.*\n {2}model .*31,872 weights\n {2}phase 1 {2}sft: 5 steps of 64 demonstrations\n.*32 prompts × 2 responses/,
  )
  expect(said.join('\n')).toMatch(/memory {3}\d+\.\d\d MiB .*of at most 4\.00 GiB/)
  expect(existsSync(out)).toBe(false)
  await expect(train.run(['tiny', '--set', 'model.hidden_size=0', '--dry-run'])).rejects.toThrow(
    /model\.hidden_size: expected/,
  )
  await expect(train.run([HUGE, '--dry-run'])).rejects.toThrow(/would take .* GiB/)
  await expect(train.run(['tiny', '--observe-lens', 'tuned,raw', '--dry-run'])).rejects.toThrow(
    '--observe-lens: expected tuned or jacobian, or both with a comma between them, got tuned,raw',
  )
  await expect(train.run(['--resume', out, '--dry-run'])).rejects.toThrow(UsageError)
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
