import { createServer } from 'node:net'
import { defineConfig } from '@playwright/test'

// The built page in a real Chromium. SwiftShader is Chromium's CPU adapter, so no GPU is needed;
// CHROMIUM names the executable where Playwright's own browser is not installed (scripts/test.mjs
// finds it).
const args = [
  '--no-sandbox',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
]
const webgpu = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader']
/** What a browser without WebGPU is shown. */
const WITHOUT_GPU = /(no_webgpu|replay)\.spec\.ts$/
/** Only where LONG_TESTS is set, as what has the tag @long: all of it takes longer than a change
 * should wait. */
const LONG = /(circumstances|losses|study_files)\.spec\.ts$/
const executable = process.env.CHROMIUM ? { executablePath: process.env.CHROMIUM } : {}

/** Playwright reads this file once more in every worker: the environment carries the port there. */
async function freePort(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return String(typeof address === 'object' ? address?.port : address)
}
process.env.E2E_PORT ??= await freePort()
const address = `http://127.0.0.1:${process.env.E2E_PORT}/`

export default defineConfig({
  testDir: 'e2e',
  outputDir: 'test-results',
  ...(process.env.LONG_TESTS ? {} : { grepInvert: /@long/ }),
  // Two cores train one run at a time.
  workers: 1,
  forbidOnly: !!process.env.CI,
  // A run takes a minute on two idle cores; a busy machine is no failure.
  timeout: 480_000,
  expect: { timeout: 60_000 },
  reporter: [['line'], ['json', { outputFile: 'test-results/e2e.json' }]],
  // What is kept for offline use would hide what a test answers in place of the server;
  // e2e/offline.spec.ts allows it.
  use: {
    baseURL: address,
    browserName: 'chromium',
    serviceWorkers: 'block',
    // A control that cannot be used is said long before the test's own end.
    actionTimeout: 180_000,
  },
  projects: [
    {
      name: 'webgpu',
      testIgnore: process.env.LONG_TESTS ? WITHOUT_GPU : [WITHOUT_GPU, LONG],
      use: { launchOptions: { ...executable, args: [...args, ...webgpu] } },
    },
    {
      name: 'no_webgpu',
      testMatch: WITHOUT_GPU,
      // An address that is not loopback, so that the page is not a secure one; nothing is looked
      // up.
      use: {
        launchOptions: { ...executable, args: [...args, '--host-resolver-rules=MAP * 127.0.0.1'] },
      },
    },
  ],
  webServer: {
    command: `node node_modules/vite/bin/vite.js preview --host 127.0.0.1 --port ${process.env.E2E_PORT} --strictPort`,
    url: address,
    reuseExistingServer: false,
  },
})
