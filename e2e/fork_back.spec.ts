// Brings back what BuPO's fork of verl leaves behind: its console log beside a run of the lab, and
// its merged checkpoint, which is read.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readSafetensors } from '../src/formats/safetensors.ts'
import { writeSafetensors } from '../src/formats/safetensors_write.ts'
import { expect, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

/** A job of the fork as the lab runs it: an inner phase and the whole model. */
const JOB = 'conformance/bupo/sort_digits'
const SHORT = `v=1&p=tiny&phases.0.steps=1&phases.1.steps=1&phases.2.steps=2&validation.prompts=16&rollout.train_batch_size=8&actor.ppo_mini_batch_size=8&probe.rows=8${QUICK}`

/** A console as Ray prints it: colours, the process, a progress bar, NumPy's numbers. */
function consoleOf(steps: number): string {
  const process = '\u001b[36m(TaskRunner pid=4711)\u001b[0m'
  const line = (step: number) =>
    [
      `${process} step:${step}`,
      `training/global_step:${step}`,
      `critic/score/mean:${0.25 * step}`,
      `actor/entropy:np.float64(${2 - 0.5 * step})`,
      'actor/pg_loss:-0.01',
      'actor/grad_norm:1.5',
      'actor/lr:0.001',
      'actor/ppo_kl:0.002',
      'response_length/mean:3.75',
      ...(step === steps ? ['val-core/understory/sort_digits/acc/mean@1:0.625'] : []),
    ].join(' - ')
  return [
    `${process} internal_policy_interative: True`,
    `${process} step:0 - val-core/understory/sort_digits/acc/mean@1:0.25`,
    ...Array.from({ length: steps }, (_, i) => [
      `Training Progress: ${i * 33}%|###  | ${i}/${steps} [00:0${i}<00:09,  3.10s/it]`,
      line(i + 1),
    ]).flat(),
    '',
  ].join('\n')
}

/** What `verl.model_merger` writes of such a job's actor: the fork's config, bfloat16, and the tied
 * head once more. */
function mergedModel(folder: string): string {
  const out = join(folder, 'merged')
  execFileSync('node', [
    'scripts/lab.mjs',
    'export',
    `${JOB}/experiment.json`,
    '--weights',
    `${JOB}/warm`,
    '--to',
    'hf',
    out,
  ])
  rmSync(join(out, 'understory.json'))
  const config = join(out, 'config.json')
  const { rope_parameters, dtype, ...json } = JSON.parse(readFileSync(config, 'utf8'))
  const merged = {
    ...json,
    internal_layer: 1,
    torch_dtype: 'bfloat16',
    transformers_version: '4.56.0',
  }
  writeFileSync(config, JSON.stringify(merged, undefined, 2))
  const weights = join(out, 'model.safetensors')
  const { tensors } = readSafetensors(new Uint8Array(readFileSync(weights)), weights)
  const embedding = tensors.get('model.embed_tokens.weight')
  if (!embedding) throw new Error('expected an embedding')
  const all = new Map([...tensors, ['lm_head.weight', embedding] as const])
  writeFileSync(weights, writeSafetensors(all, {}, 'BF16'))
  return out
}

test(
  'the fork’s console log and merged checkpoint open beside the lab’s own run',
  LONG_ONLY,
  async ({ lab, page }) => {
    const folder = mkdtempSync(join(tmpdir(), 'understory-fork-'))
    mkdirSync(join(folder, 'job'))
    writeFileSync(join(folder, 'job', 'fork_console.log'), consoleOf(3))

    await lab.open(SHORT)
    await lab.waitForStatus('idle')
    await lab.get('train').click()
    await lab.waitForStatus('finished', 200_000)

    await lab.drop(join(folder, 'job', 'fork_console.log'))
    await expect(lab.get('toast')).toContainText('Imported fork_console.log: 3 steps.')
    await lab.show('runs')
    await expect(lab.get('run')).toHaveCount(2)
    for (const tick of await lab.get('tick').all()) await tick.check()
    // The imported run is shown; panels and table have both.
    await expect(lab.get('past-run')).toContainText('fork_console.log')
    await expect(lab.get('compare-keys')).toContainText('fork_console')
    const rows = lab.get('key-metrics').locator('tbody tr')
    await expect(rows).toHaveCount(2)
    await expect(rows.filter({ hasText: 'fork_console' })).toContainText('75.0 %')
    await expect(lab.get('panel-score-values').locator('li')).toHaveCount(2)

    await lab.drop(mergedModel(folder))
    await expect(lab.get('model-facts')).toContainText(
      'qwen3, 3 layers of 32 channels, 26 tokens',
      {
        timeout: 120_000,
      },
    )
    await expect(lab.get('model-facts')).toContainText('BF16')
    await lab.get('chat-text').fill('321=')
    await lab.get('model-read').click()
    await expect(lab.get('model-tokens').locator('tbody tr')).toHaveCount(4, { timeout: 60_000 })
    // Layers 0 to 3, the inner one that the fork trained first among them.
    await expect(lab.get('model-entropies').locator('tr[data-layer="2"]')).toHaveCount(1)
    await page.keyboard.press('Escape')
    rmSync(folder, { recursive: true })
  },
)
