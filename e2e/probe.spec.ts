// Tests that the lens shows of a model what `lab probe` finds in the same model: two programs, two
// runs, one checkpoint.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { arithmetic } from '../src/tasks/tokenizers/arithmetic.ts'
import { expect, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

const STEPS = 3

/** A warm start alone: what the command line keeps is what the page ends with. */
const LINK = `v=1&p=tiny&phases=sft&phases.0.steps=${STEPS}${QUICK}`

interface Probed {
  readonly ent_layer_raw: number[][][]
  readonly ent_layer_norm: number[][][]
  readonly logp_next_layer: number[][][]
  readonly logits: number[][][]
}

function probed(link: string, tokens: readonly string[]): Probed {
  const folder = mkdtempSync(join(tmpdir(), 'understory-'))
  try {
    const lab = (...args: string[]) =>
      execFileSync('node', ['scripts/lab.mjs', ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
    const ids = tokens.map((token) => arithmetic.tokens.indexOf(token))
    writeFileSync(join(folder, 'ids.json'), JSON.stringify(ids))
    lab('train', `?${link}`, '--save', join(folder, 'model'))
    lab(
      'probe',
      join(folder, 'model'),
      '--tokens',
      join(folder, 'ids.json'),
      '--out',
      join(folder, 'probe.json'),
    )
    return JSON.parse(readFileSync(join(folder, 'probe.json'), 'utf8'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

test(
  'the lens and the command line see the same in the same model',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.withoutMoments()
    await lab.open(LINK)
    await lab.waitForStatus('idle')
    await lab.show('inside')
    await lab.get('step').click()
    await lab.waitForStatus('paused')
    // Step by step: what is out of sight is not measured, and the figures above grow.
    for (;;) {
      await lab.get('lens').scrollIntoViewIfNeeded()
      const step = (await lab.steps()).at(-1)?.step ?? 0
      await expect(lab.get('lens-summary')).toHaveAttribute('data-step', `${step}`)
      if (step === STEPS) break
      await lab.get('step').click()
      await expect.poll(async () => (await lab.steps()).at(-1)?.step).toBe(step + 1)
    }
    await lab.waitForStatus('finished')
    const lens = await page.evaluate((step) => {
      const event = window.labEvents.findLast(
        (event) =>
          event.type === 'observed' && event.step === step && event.observation.lenses.length > 0,
      )
      if (event?.type !== 'observed') throw new Error(`no lens of step ${step}`)
      const { tokens, raw, normed } = event.observation.lenses[0]
      const numbers = ({ entropy, next_prob, top, top_probs }: typeof raw) => ({
        entropy: [...entropy],
        next_prob: [...next_prob],
        top: [...top],
        top_probs: [...top_probs],
      })
      return { tokens: [...tokens], raw: numbers(raw), normed: numbers(normed) }
    }, STEPS)
    const { tokens, raw, normed } = lens
    const found = probed(LINK, tokens)
    const layers = found.ent_layer_raw.length
    expect(raw.entropy).toHaveLength(tokens.length * layers)
    for (let s = 0; s < tokens.length; s++)
      for (let l = 0; l < layers; l++) {
        const at = s * layers + l
        expect(raw.entropy[at]).toBeCloseTo(found.ent_layer_raw[l][0][s], 3)
        expect(normed.entropy[at]).toBeCloseTo(found.ent_layer_norm[l][0][s], 3)
        if (s < tokens.length - 1)
          expect(raw.next_prob[at]).toBeCloseTo(Math.exp(found.logp_next_layer[l][0][s]), 3)
      }
    // The likeliest token of the final policy, and its probability.
    for (let s = 0; s < tokens.length; s++) {
      const logits = found.logits[0][s]
      const largest = Math.max(...logits)
      const sum = logits.reduce((total, z) => total + Math.exp(z - largest), 0)
      const at = (s * layers + layers - 1) * 5
      expect(normed.top_probs[at]).toBeCloseTo(1 / sum, 3)
      expect(normed.top[at]).toBe(arithmetic.tokens[logits.indexOf(largest)])
    }
  },
)
