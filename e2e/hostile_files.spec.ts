// Files that would take the page for ever: a tokenizer whose pattern never ends, a bundle that
// unpacks to far more than it says.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zipSync } from 'fflate'
import { expect, LONG_ONLY, test } from './lab_page.ts'
import { tinyModel } from './tiny_models.ts'

test(
  'a tokenizer whose pattern never ends on a text is ended and named, and the next text is read',
  LONG_ONLY,
  async ({ lab }) => {
    const folder = await tinyModel('qwen3')
    const path = join(folder, 'tokenizer.json')
    const json = JSON.parse(readFileSync(path, 'utf8'))
    const split = {
      type: 'Split',
      pattern: { Regex: '(\\d+)+$' },
      behavior: 'Isolated',
      invert: false,
    }
    json.pre_tokenizer = { type: 'Sequence', pretokenizers: [split, json.pre_tokenizer] }
    writeFileSync(path, JSON.stringify(json))
    try {
      await lab.open('v=1&p=tiny')
      await lab.waitForStatus('idle')
      await lab.drop(folder)
      await expect(lab.get('model-facts')).toContainText('qwen3, 2 layers', { timeout: 120_000 })
      await lab.get('chat-text').fill(`${'1'.repeat(60)}x`)
      await lab.get('model-read').click()
      await expect(lab.get('model-problem')).toContainText(
        'tokenizer.json: Split.pattern: {"Regex":"(\\\\d+)+$"}: took longer than 10 s on one text',
      )
      await lab.get('chat-text').fill('the cat')
      await lab.get('model-read').click()
      await expect(lab.get('model-grid').locator('tbody tr')).toHaveCount(3)
    } finally {
      rmSync(join(folder, '..'), { recursive: true })
    }
  },
)

test(
  'a bundle that unpacks to more than it says is refused, beside the page',
  LONG_ONLY,
  async ({ lab }) => {
    const folder = mkdtempSync(join(tmpdir(), 'understory-bundle-'))
    const name = 'experiment.json'
    const bytes = zipSync({ [name]: new Uint8Array(512e6) }, { level: 9 })
    const view = new DataView(bytes.buffer)
    // The sizes in the entry's own header and in the directory at the end.
    view.setUint32(22, 100, true)
    view.setUint32(bytes.length - 22 - 46 - name.length + 24, 100, true)
    writeFileSync(join(folder, 'bomb.zip'), bytes)
    try {
      await lab.open('v=1&p=tiny')
      await lab.waitForStatus('idle')
      await lab.drop(join(folder, 'bomb.zip'))
      await expect(lab.page.getByText(`${name} says 100 bytes and holds more`)).toBeVisible()
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
)
