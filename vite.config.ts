import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { playwright } from '@vitest/browser-playwright'
import type { Plugin } from 'vite'
import { VitePWA } from 'vite-plugin-pwa'
import { defineConfig } from 'vitest/config'
import { withoutComments } from './src/kernels/wgsl/compose.ts'
import { SENTENCE } from './src/ui/forest/sentence.ts'

// Any installed Chrome or Chromium; SwiftShader is Chromium's CPU adapter, so tests run with no
// GPU. CHROMIUM names the executable where Playwright's own browser is not installed
// (scripts/test.mjs finds it).
const chromium = {
  ...(process.env.CHROMIUM ? { executablePath: process.env.CHROMIUM } : {}),
  args: [
    '--no-sandbox',
    '--enable-unsafe-webgpu',
    '--use-webgpu-adapter=swiftshader',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--no-first-run',
  ],
}

/** The policy that a page itself states, for hosts that send no headers. */
function statedPolicy(file: string): string {
  const source = readFileSync(new URL(file, import.meta.url), 'utf8')
  const [, policy] = /http-equiv="Content-Security-Policy"\s+content="([^"]+)"/.exec(source) ?? []
  if (!policy) throw new Error(`${file}: expected a Content-Security-Policy`)
  return policy
}

/** Frames without rights of the page, which need a policy of their own: one runs a person's
 * program, one fetches a model. */
const FRAMES = ['sandbox.html', 'fetch.html']

const framePolicy = (name: string) =>
  `${statedPolicy(`public/${name}`)}; sandbox allow-scripts; frame-ancestors 'self'`

const frames: Plugin = {
  name: 'frame-policies',
  configurePreviewServer({ middlewares }) {
    middlewares.use((request, response, next) => {
      // Its path alone: a query may hold any text.
      const [path] = (request.url ?? '').split('?')
      const frame = FRAMES.find((name) => path === `/${name}`)
      if (frame) {
        const own = framePolicy(frame)
        const set = response.setHeader.bind(response)
        response.setHeader = (name, value) =>
          set(name, name === 'Content-Security-Policy' ? own : value)
      }
      next()
    })
  },
}

/** What the built page is served with (docs/hosting.md). Which pages may hold it in a frame can be
 * said in a header alone: FRAME_ANCESTORS names them, and by default they are those of its own
 * origin. */
const headers = {
  'Content-Security-Policy': `${statedPolicy('index.html')}; frame-ancestors ${process.env.FRAME_ANCESTORS || "'self'"}`,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
}

/** The same for hosts that read a file `_headers`, as Netlify and Cloudflare Pages do. No two rules
 * name a policy for one address. */
const headersFile: Plugin = {
  name: 'headers-file',
  generateBundle() {
    const { 'Content-Security-Policy': policy, ...others } = headers
    const rule = (path: string, sent: Readonly<Record<string, string>>) =>
      [path, ...Object.entries(sent).map(([name, value]) => `  ${name}: ${value}`), ''].join('\n')
    const own = { 'Content-Security-Policy': policy }
    const source = [
      rule('/*', others),
      ...['/', '/index.html'].map((path) => rule(path, own)),
      rule('/assets/*', { ...own, 'Cache-Control': 'public, max-age=31536000, immutable' }),
      ...FRAMES.map((name) => rule(`/${name}`, { 'Content-Security-Policy': framePolicy(name) })),
    ].join('')
    this.emitFile({ type: 'asset', fileName: '_headers', source })
  },
}

/** What compilers skip is not loaded: kernels come without lines of comment and indents. The page
 * describes losses, and its worker alone runs them: their kernels, in files and in templates marked
 * as WGSL, are 4 kB of what it loads first. */
const bareKernels = (where: 'page' | 'worker'): Plugin => ({
  name: 'bare-kernels',
  apply: 'build',
  enforce: 'pre',
  load(id) {
    const [file, query] = id.split('?')
    if (query !== 'raw' || !file.endsWith('.wgsl')) return null
    this.addWatchFile(file)
    if (where === 'page' && file.includes('/src/rl/losses/')) return `export default ''`
    return `export default ${JSON.stringify(withoutComments(readFileSync(file, 'utf8')))}`
  },
  transform(code, id) {
    if (where === 'worker' || !id.includes('/src/rl/losses/')) return null
    return { code: code.replaceAll(/\/\* wgsl \*\/ `[^`]*`/g, "''"), map: null }
  },
})

const OUT = 'dist/app'
let builtInto = OUT

/** Where this build goes, and the licence of what the service worker consists of beside those of
 * the page. */
const workerLicense: Plugin = {
  name: 'service-worker-license',
  configResolved({ build }) {
    builtInto = build.outDir
  },
  generateBundle() {
    const source = readFileSync('node_modules/workbox-core/LICENSE', 'utf8')
    this.emitFile({ type: 'asset', fileName: 'sw-license.txt', source: `Workbox\n\n${source}` })
  },
}

/** The first sentence is painted with the page's HTML: its code takes a slow machine a second. */
const firstPaint: Plugin = {
  name: 'first-paint',
  transformIndexHtml: (html) => html.replace('%SENTENCE%', SENTENCE),
}

/** The engines of programs, which a person may never need: kept when they were used, not before.
 * Their files have their hash in their names. */
const ENGINES = 'assets/{pyodide,python_stdlib,emscripten-module}*'
/** Catalogues of other languages, which most people never need either. */
const CATALOGUES = 'assets/texts_*'

/** The service worker keeps one whole build, and answers with files of that build alone: the hash
 * of each must be right, so a build that is replaced while it is fetched is not kept. A later build
 * waits until the person asks for it (src/ui/shell/offline.ts). */
const offline = VitePWA({
  registerType: 'prompt',
  injectRegister: false,
  manifestFilename: 'manifest.json',
  manifest: {
    id: './',
    name: 'Understory',
    short_name: 'Understory',
    description:
      'Train small transformers with reinforcement learning on your own GPU, and watch the policy of every layer.',
    start_url: './',
    scope: './',
    display: 'standalone',
    background_color: '#0e1512',
    theme_color: '#0e1512',
    categories: ['education', 'science'],
    icons: [
      { src: 'favicon.svg', type: 'image/svg+xml', sizes: 'any' },
      { src: 'icons/icon-192.png', type: 'image/png', sizes: '192x192' },
      { src: 'icons/icon-512.png', type: 'image/png', sizes: '512x512' },
      {
        src: 'icons/icon-maskable-512.png',
        type: 'image/png',
        sizes: '512x512',
        purpose: 'maskable',
      },
    ],
  },
  includeManifestIcons: false,
  workbox: {
    inlineWorkboxRuntime: true,
    globPatterns: ['index.html', 'favicon.svg', 'assets/*.{js,css}', 'models/sorter/*'],
    globIgnores: [ENGINES, CATALOGUES],
    dontCacheBustURLsMatching: /^assets\//,
    maximumFileSizeToCacheInBytes: 4e6,
    manifestTransforms: [
      (entries) => ({
        manifest: entries.map((entry) => {
          const digest = createHash('sha384').update(readFileSync(join(builtInto, entry.url)))
          return { ...entry, integrity: `sha384-${digest.digest('base64')}` }
        }),
        warnings: [],
      }),
    ],
    // The page's own address alone, with any link: other files and folders below it are the
    // server's.
    navigateFallback: null,
    // But what asks which build the server has (src/ui/part/new_version.ts).
    ignoreURLParametersMatching: [/^(?!fresh$)/],
    clientsClaim: true,
    runtimeCaching: [
      {
        urlPattern: ({ sameOrigin, url }) =>
          sameOrigin &&
          /\/assets\/(pyodide|python_stdlib|emscripten-module|texts_)[^/]*$/.test(url.pathname),
        handler: 'CacheFirst',
        options: { cacheName: 'understory-python', expiration: { maxEntries: 40 } },
      },
      {
        // Their names stay the same from build to build, so the server comes first.
        urlPattern: ({ sameOrigin, url }) =>
          sameOrigin && /\/(models|recordings)\/.*[^/]$/.test(url.pathname),
        handler: 'NetworkFirst',
        options: { cacheName: 'understory-models', expiration: { maxEntries: 40 } },
      },
    ],
  },
})

/** GPU tests of Node alone: training, which the browser tests show on the page, and what takes
 * Chromium's software adapter minutes. Kernels and the model run in Chromium; `npm run test:long`
 * runs them on Dawn in Node, too. */
const IN_NODE = [
  'src/cli/**/*.gpu.test.ts',
  'src/rl/!(losses)/**/*.gpu.test.ts',
  'src/model/**/{fusion,internal_moments,lens,rollout_cache,value}.gpu.test.ts',
  'src/kernels/device/timing/{limits,split}.gpu.test.ts',
]

type ModuleInfo = (id: string) => { readonly importedIds: readonly string[] } | null

/** What the page loads first is one file: shared with parts that are loaded later it would be cut
 * into many, which compress worse. Modules that the entry reaches without `import()` belong to
 * it. */
function loadedFirst(getModuleInfo: ModuleInfo): ReadonlySet<string> {
  const found = new Set<string>()
  const open = [fileURLToPath(new URL('src/main.tsx', import.meta.url))]
  for (let id = open.pop(); id; id = open.pop()) {
    if (found.has(id)) continue
    // Each part brings the icons that it alone uses.
    if (/lucide-react\/dist\/esm\/icons\//.test(id)) continue
    found.add(id)
    open.push(...(getModuleInfo(id)?.importedIds ?? []))
  }
  return found
}
let first: ReadonlySet<string> | undefined

export default defineConfig({
  plugins: [
    react({ jsxImportSource: '#jsx' }),
    bareKernels('page'),
    firstPaint,
    frames,
    headersFile,
    workerLicense,
    offline,
  ],
  base: './',
  // The licences of all that is bundled are beside it.
  build: {
    target: 'esnext',
    outDir: OUT,
    license: { fileName: 'licenses.txt' },
    // Lists of what each later part needs would add 3 kB to what is loaded first: each part names
    // its own. Browsers with WebGPU need no polyfill.
    modulePreload: {
      polyfill: false,
      resolveDependencies: (_, files, { hostType }) => (hostType === 'html' ? files : []),
    },
    rolldownOptions: {
      output: {
        chunkFileNames: ({ facadeModuleId }) =>
          facadeModuleId?.includes('/src/ui/language/zh/')
            ? 'assets/texts_[name]-[hash].js'
            : 'assets/[name]-[hash].js',
        // Their licences are in a file of their own.
        comments: false,
        codeSplitting: {
          groups: [
            {
              debugName: 'first',
              name: (id, context) => {
                first ??= loadedFirst((asked) => context.getModuleInfo(asked))
                return first.has(id) ? 'first' : null
              },
            },
          ],
        },
      },
    },
  },
  preview: { headers },
  worker: { format: 'es', plugins: () => [bareKernels('worker')] },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          // Quicker to start than processes, and nothing here needs one of its own.
          pool: 'threads',
          // Loading every module again for each file would take half of the time. What a test
          // replaces it puts back.
          isolate: false,
          setupFiles: ['src/page/stores.setup.ts'],
          include: [
            '{src,conformance,tools,bench}/**/*.test.{ts,tsx}',
            '{scripts,tools}/**/*.test.mjs',
          ],
          exclude: ['**/*.gpu.test.ts'],
          // A busy machine is no failure.
          testTimeout: 60_000,
          environment: 'node',
        },
      },
      {
        // In Node, on Dawn with whatever Vulkan, Metal or D3D adapter is there.
        extends: true,
        test: {
          name: 'dawn',
          include: process.env.GPU_TESTS_ONCE ? IN_NODE : ['src/**/*.gpu.test.ts'],
          environment: 'node',
          setupFiles: ['src/cli/dawn.setup.ts', 'src/cli/pinned.setup.ts'],
          // The files of a process share its device and the kernels compiled on it
          // (src/kernels/device/testing.ts).
          isolate: false,
          // Kernels of large tiles take a software adapter a minute to compile.
          testTimeout: process.env.PINNED_KERNELS ? 600_000 : 120_000,
        },
      },
      {
        extends: true,
        // A page has no process.
        define: { 'process.env.LONG_TESTS': JSON.stringify(process.env.LONG_TESTS ?? '') },
        test: {
          name: 'gpu',
          include: ['src/**/*.gpu.test.ts'],
          exclude: IN_NODE,
          setupFiles: ['src/cli/chromium.setup.ts'],
          // As in Node: files share the device and its kernels.
          isolate: false,
          testTimeout: 120_000,
          browser: {
            enabled: true,
            headless: true,
            ui: false,
            screenshotFailures: false,
            provider: playwright({ launchOptions: chromium }),
            instances: [{ browser: 'chromium' }],
          },
        },
      },
    ],
  },
})
