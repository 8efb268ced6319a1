// Tests what else may befall a page, where there is time: a browser killed while it fetches a
// model, next to no room, caches that somebody has written to, a second tab. Each ends in a
// sentence, and what was there stays.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { expect, LabPage, LONG_ONLY, QUICK, test } from './lab_page.ts'
import { openOwn } from './own_browser.ts'
import { type ModelServer, serveModel, tinyModel } from './tiny_models.ts'

// What is tried is the browser's own.
test.use({ serviceWorkers: 'allow' })

let folder: string
let server: ModelServer
test.beforeAll(async () => {
  folder = await tinyModel('qwen3')
  server = await serveModel(folder)
})
test.afterAll(() => {
  server.close()
  rmSync(join(folder, '..'), { recursive: true })
})

async function find(page: Page, address: string, base: string | undefined): Promise<LabPage> {
  const lab = new LabPage(page)
  await lab.open('v=1&p=tiny', base)
  await lab.waitForStatus('idle')
  await page.keyboard.press('Control+k')
  await lab.get('palette-input').fill('open a model')
  await page.keyboard.press('Enter')
  await lab.get('model-address').fill(address)
  await lab.get('model-find').click()
  const frame = page.frameLocator('[data-testid=model-fetch-frame]')
  await frame.getByRole('button', { name: 'Allow' }).click()
  await expect(lab.get('model-found')).toContainText('qwen3')
  return lab
}

test(
  'a browser that is killed while it fetches a model continues with what has arrived',
  LONG_ONLY,
  async ({ baseURL }, { project }) => {
    const profile = mkdtempSync(join(tmpdir(), 'understory-killed-'))
    const weights = () => server.asked.filter(({ path }) => path === '/stall/model.safetensors')
    try {
      const first = await openOwn(profile, project.use.launchOptions)
      const lab = await find(first.page, `${server.origin}/stall/`, baseURL)
      await lab.get('model-fetch').click()
      // After the byte that tells the size, the request that never ends.
      await expect.poll(() => weights().length).toBe(2)
      await first.kill()

      const next = await openOwn(profile, project.use.launchOptions)
      try {
        const again = await find(next.page, `${server.origin}/stall/`, baseURL)
        await expect(again.get('model-found')).toContainText('are here already')
        await again.get('model-fetch').click()
        await expect(again.get('model-facts')).toContainText('280 tokens', { timeout: 120_000 })
      } finally {
        await next.kill()
      }
    } finally {
      rmSync(profile, { recursive: true, force: true })
    }
  },
)

test(
  'with next to no room a run ends well, and a model is opened without being kept',
  LONG_ONLY,
  async ({ browser, baseURL }, testInfo) => {
    const own = await browser
      .browserType()
      .launchPersistentContext(testInfo.outputPath('profile'), {
        ...testInfo.project.use.launchOptions,
        ...(baseURL && { baseURL }),
      })
    const page = await own.newPage()
    const lab = new LabPage(page)
    await lab.open(`v=1&p=tiny${QUICK}&phases.0.steps=20`)
    await lab.waitForStatus('idle')
    const devtools = await own.newCDPSession(page)
    const { origin } = new URL(page.url())
    await devtools.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 20_000 })
    await lab.get('train').click()
    await lab.waitForStatus('finished', 300_000)
    await expect(lab.get('checkpoint-problem')).toHaveAttribute('data-code', /full|unavailable/)
    const found = await find(page, `${server.origin}/good/`, undefined)
    await devtools.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 20_000 })
    await found.get('model-fetch').click()
    // There is no room to keep it, so it is read from memory.
    await expect(found.get('model-facts')).toContainText('280 tokens', { timeout: 120_000 })
    await own.close()
  },
)

test(
  'no service worker of another origin, and none made from text, can take the page over',
  LONG_ONLY,
  async ({ page }) => {
    const lab = new LabPage(page)
    await lab.open('v=1&p=tiny')
    await lab.waitForStatus('idle')
    const refused = await page.evaluate(async (foreign) => {
      const made = URL.createObjectURL(new Blob(['onfetch = 1'], { type: 'text/javascript' }))
      const tried: string[] = []
      for (const address of [
        `${foreign}/good/config.json`,
        made,
        'data:text/javascript,1',
        'icons/',
      ])
        await navigator.serviceWorker.register(address).then(
          () => tried.push(`registered ${address}`),
          (error: Error) => tried.push(error.name),
        )
      return tried
    }, server.origin)
    expect(refused.filter((said) => said.startsWith('registered'))).toEqual([])
  },
)
