// Runs tests on pages of their own that share one worker, whose GPU is open and whose kernels are
// compiled. Every test has a page that is freshly loaded and nothing stored. What a test does to
// its worker, its GPU or its browser belongs on a page with its own (lab_page.ts): here
// `page.workers()` is empty, and a page that is left does not end its worker.
import { borrowingPage } from './host.ts'
import { test as base } from './lab_page.ts'

export const test = base.extend({
  context: async ({ host }, use) => {
    await use(host.context)
    await host.context.clearPermissions()
  },
  page: async ({ host, viewport }, use) => {
    const page = await borrowingPage(host)
    if (viewport) await page.setViewportSize(viewport)
    await use(page)
    await page.close()
  },
})
