// Folders that come back from a cluster: validation generations become a run, and a model with its
// adapter is looked at.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import AxeBuilder from '@axe-core/playwright'
import { writeSafetensors } from '../src/formats/safetensors_write.ts'
import { expect, type LabPage, LONG_ONLY } from './lab_page.ts'
import { test } from './warm_page.ts'

const MODEL = 'conformance/fixtures/trl/repeat_digit/model'

/** Chooses a folder as a person does, with the palette. */
async function openFolder(lab: LabPage, folder: string): Promise<void> {
  const choosing = lab.page.waitForEvent('filechooser')
  await lab.page.keyboard.press('Control+k')
  await lab.get('palette-input').fill('open folder')
  await lab.page.keyboard.press('Enter')
  await (await choosing).setFiles(folder)
}

function folderOf(files: Readonly<Record<string, string | Uint8Array>>, name: string): string {
  const folder = join(mkdtempSync(join(tmpdir(), 'understory-opened-')), name)
  mkdirSync(folder)
  for (const [path, data] of Object.entries(files)) writeFileSync(join(folder, path), data)
  return folder
}

const answer = (input: string, output: string, score: number, step: number) =>
  `${JSON.stringify({ input, output, gts: '12', score, step, acc: score })}\n`

test(
  'validation generations of verl become a run with its answers and its curve',
  LONG_ONLY,
  async ({ lab, page }) => {
    const folder = folderOf(
      {
        '10.jsonl': answer('21=', '21', 0, 10) + answer('12=', '12', 1, 10),
        '20.jsonl': `${answer('21=', '12', 1, 20)}no line\n${answer('12=', '12', 1, 20)}`,
      },
      'val_data',
    )
    await lab.open('v=1&p=tiny')
    await lab.waitForStatus('idle')
    await openFolder(lab, folder)
    await expect(lab.get('toast')).toContainText('Imported val_data: 20 steps.')
    await expect(lab.get('toast')).toContainText('line 2 of 20.jsonl (no JSON object)')
    await lab.show('runs')
    await page.getByRole('button', { name: 'val_data', exact: true }).click()
    await lab.show('learn')
    await expect(page.locator('#reward-chart-summary')).toContainText('held-out, mean of answers')
    await lab.get('samples-held_out').check()
    await expect(lab.get('held-out')).toContainText('Step 20')
    await expect(lab.get('held-out').locator('tbody')).toHaveCount(2)
    rmSync(join(folder, '..'), { recursive: true })
  },
)

test(
  'a model reads a typed text, and an adapter changes what it says',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.open('v=1&p=tiny')
    await lab.waitForStatus('idle')
    const q = 'base_model.model.model.layers.0.self_attn.q_proj'
    const filled = (count: number) => Float32Array.from({ length: count }, (_, i) => Math.sin(i))
    const adapter = folderOf(
      {
        'adapter_config.json': JSON.stringify({ peft_type: 'LORA', r: 2, lora_alpha: 8 }),
        'adapter_model.safetensors': writeSafetensors(
          new Map([
            [`${q}.lora_A.weight`, { shape: [2, 128], data: filled(256) }],
            [`${q}.lora_B.weight`, { shape: [128, 2], data: filled(256) }],
          ]),
        ),
      },
      'adapter',
    )
    // An adapter alone is nothing to look at.
    await openFolder(lab, adapter)
    await expect(lab.get('file-problem')).toContainText('Open the folder of the model')
    await lab.get('file-problem').getByRole('button').first().click()

    await openFolder(lab, MODEL)
    await expect(lab.get('model-facts')).toContainText(
      'qwen3, 2 layers of 128 channels, 26 tokens',
      {
        timeout: 120_000,
      },
    )
    const read = async () => {
      await lab.get('chat-text').fill('7=7')
      await lab.get('model-read').click()
      await expect(lab.get('model-tokens').locator('tbody tr')).toHaveCount(3, { timeout: 60_000 })
      return Number(
        await lab
          .get('model-entropies')
          .locator('tr[data-layer="2"] td')
          .first()
          .getAttribute('data-value'),
      )
    }
    const before = await read()
    expect(before).toBeGreaterThan(0)
    expect(before).toBeLessThan(Math.log(26))
    await expect(lab.get('model-grid').locator('tbody tr')).toHaveCount(3)
    await lab.get('model-normed').check()
    const { violations } = await new AxeBuilder({ page }).include('.model-dialog').analyze()
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`)).toEqual([])
    await lab.get('chat-text').fill('7='.repeat(40))
    await lab.get('model-read').click()
    // Of a long text the last tokens are read, and the page says so.
    await expect(page.locator('.model-dialog')).toContainText('Its last 64 of 80 tokens are shown')

    const choose = async (folder: string) => {
      const choosing = page.waitForEvent('filechooser')
      await page.getByRole('button', { name: /Open another model/ }).click()
      await (await choosing).setFiles(folder)
    }
    await choose(folderOf({ 'wrong.txt': 'no model' }, 'notes'))
    await expect(lab.get('model-problem')).toContainText('“notes” holds no model')
    // Beside the button that was pressed, in sight.
    await expect(lab.get('model-problem')).toBeInViewport()
    await expect(page.locator('.model-way', { has: lab.get('model-problem') })).toContainText(
      'Open another model',
    )
    await choose(adapter)
    await expect(lab.get('model-problem')).toHaveCount(0)
    await expect(lab.get('model-facts')).toContainText('The adapter adapter is merged into it.', {
      timeout: 120_000,
    })
    expect(await read()).not.toBeCloseTo(before, 4)
    await page.keyboard.press('Escape')
    await expect(lab.get('model-dialog')).toBeHidden()
    rmSync(join(adapter, '..'), { recursive: true })
  },
)
