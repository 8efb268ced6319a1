// Being looked at costs a run no bit, in the page's own worker.
import type { ObservationRequest } from '../src/host/protocol/observation.ts'
import type { LabCommand } from '../src/host/protocol/protocol.ts'
import { expect, type LabPage, LONG_ONLY, QUICK } from './lab_page.ts'
import { test } from './warm_page.ts'

/** 9 small steps through all three phases. */
const LINK =
  `v=1&p=tiny&phases.0.steps=3&phases.1.steps=3&phases.2.steps=3${QUICK}` +
  '&rollout.train_batch_size=8&actor.ppo_mini_batch_size=4&validation.prompts=8'
const REQUEST: ObservationRequest = {
  groups: ['entropy', 'flow', 'cosines', 'similarity'],
  layer: 2,
  lens: { held_out: 2, samples: [{ prompt: '12', response: '2x', is_ended: true }] },
  tokens: true,
  token_layers: true,
  every: 1,
}

declare global {
  interface Window {
    request: ObservationRequest | undefined
  }
}

/** The second run has found the kernels of the first one compiled, and nothing else of it. */
async function expectSameDevice(lab: LabPage): Promise<void> {
  const told = (await lab.events()).flatMap((event) => (event.type === 'memory' ? [event] : []))
  const second = told.findIndex(({ run }) => run !== told[0].run)
  expect(second).toBeGreaterThan(0)
  const { pipelines, live_bytes } = told[second].counts
  expect(pipelines).toBeGreaterThanOrEqual(told[second - 1].counts.pipelines)
  expect(live_bytes).toBe(told[0].counts.live_bytes)
}

async function numbers(lab: LabPage) {
  return (await lab.steps()).map(({ step, phase, metrics }) => ({
    step,
    phase,
    metrics: Object.entries(metrics).filter(([name]) => !/^timing_|^perf\//.test(name)),
  }))
}

test(
  'a run that is observed at every step has the bits of one that nobody looks at',
  LONG_ONLY,
  async ({ lab, page }) => {
    // A run begins with this request, as panels are not what is tested here.
    await page.addInitScript(() => {
      const Native = window.Worker
      window.Worker = class extends Native {
        override postMessage(command: LabCommand): void {
          const observe = window.request
          super.postMessage(command.type === 'start' && observe ? { ...command, observe } : command)
        }
      }
    })
    await lab.withoutMoments()
    await lab.open(LINK)
    await lab.get('train').click()
    await lab.waitForStatus('finished', 200_000)
    const plain = await numbers(lab)
    expect(plain.length).toBe(10)
    expect((await lab.events()).some(({ type }) => type === 'observed')).toBe(false)

    await lab.get('reset').click()
    await page.evaluate((request) => {
      window.request = request
    }, REQUEST)
    await lab.get('train').click()
    await lab.waitForStatus('finished', 200_000)
    expect(await numbers(lab)).toEqual(plain)
    await expectSameDevice(lab)
    // Float32 arrays do not leave the page as they are: what is looked at is counted there.
    const seen = await page.evaluate(() =>
      window.labEvents.flatMap((event, i) => {
        if (event.type !== 'observed') return []
        const { observation, step } = event
        return [
          {
            step,
            after: window.labEvents[i - 1].type,
            states: observation.mean.norm_hidden?.length,
            lenses: observation.lenses.map(({ tokens, raw }) => raw.entropy.length / tokens.length),
            refused: observation.refused,
            is_timed: Object.values(observation.cost_ms).every((ms) => ms >= 0),
          },
        ]
      }),
    )
    const states = seen[0]?.states ?? 0
    expect(states).toBeGreaterThan(1)
    expect(seen).toEqual(
      plain.map(({ step }) => ({
        step,
        after: 'step',
        states,
        lenses: [states, states],
        is_timed: true,
        refused: expect.stringContaining('"x"'),
      })),
    )
  },
)

test(
  'nothing is observed while the tab is hidden, and everything in view again once it is shown',
  LONG_ONLY,
  async ({ lab, page }) => {
    await lab.withoutMoments()
    await lab.open(LINK.replace('phases.0.steps=3', 'phases.0.steps=2000'))
    await lab.waitForStatus('idle')
    await lab.show('inside')
    await lab.get('train').click()
    const last = (of: 'observed' | 'step') =>
      page.evaluate((type) => {
        const event = window.labEvents.findLast((told) => told.type === type)
        return event && 'step' in event ? event.step : -1
      }, of)
    await expect.poll(() => last('observed'), { timeout: 120_000 }).toBeGreaterThan(0)
    const setHidden = (isHidden: boolean) =>
      page.evaluate((hidden) => {
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden })
        document.dispatchEvent(new Event('visibilitychange'))
      }, isHidden)
    const taken = async (more: number) => {
      const from = await last('step')
      await expect.poll(() => last('step'), { timeout: 120_000 }).toBeGreaterThan(from + more)
    }
    await setHidden(true)
    // What was asked before is on its way for a step or two; software adapters are observed every
    // fifth.
    await taken(6)
    const seen = await last('observed')
    await taken(12)
    expect(await last('observed')).toBe(seen)
    await setHidden(false)
    await expect.poll(() => last('observed'), { timeout: 120_000 }).toBeGreaterThan(seen)
  },
)

test(
  'a finished run has every figure and a lens, though no panel was open',
  LONG_ONLY,
  async ({ lab }) => {
    await lab.open(LINK)
    await lab.waitForStatus('idle')
    await lab.get('train').click()
    await lab.waitForStatus('finished', 200_000)
    await lab.show('inside')
    await expect(lab.get('moments-on')).toBeChecked()
    const steps = (await lab.steps()).length - 1
    for (const figure of ['flow', 'delta', 'cosine'])
      await expect(lab.get(figure)).toHaveAttribute('data-step', `${steps}`)
    await expect(lab.get('lens-summary')).toHaveAttribute('data-step', `${steps}`)
  },
)
