import { expect, test } from 'vitest'
import { arrowsOf, importsBelow, mutualPairs, ordered } from './imports.mjs'

const FOLDERS = ['model', 'rl', 'document', 'host', 'record', 'jobs', 'page', 'ui', 'cli']

test.for(['src', ...FOLDERS.map((folder) => `src/${folder}`)])(
  'the picture of %s has no circle',
  (root) => {
    const arrows = arrowsOf(root)
    expect(mutualPairs(arrows)).toEqual([])
    const folders = new Set([...arrows].flatMap(([from, out]) => [from, ...out.keys()]))
    expect(ordered([...folders], arrows).rest).toEqual([])
  },
)

test('files that are loaded later, and workers, are imports', () => {
  expect(importsBelow('src/ui').get('src/ui/shell/Tabs.tsx')).toContain('src/ui/runs/RunsTab.tsx')
  expect(importsBelow('src/page').get('src/page/client/browser_page.ts')).toContain(
    'src/host/worker/worker.ts',
  )
})

test('a circle is found, and what lies behind it', () => {
  const imports = new Map([
    ['a/x/1.ts', ['a/y/1.ts']],
    ['a/y/1.ts', ['a/z/1.ts']],
    ['a/z/1.ts', ['a/y/2.ts']],
    ['a/w/1.ts', []],
  ])
  const arrows = arrowsOf('a', imports)
  expect(mutualPairs(arrows)).toEqual(['y ↔ z'])
  expect(ordered(['x', 'y', 'z', 'w'], arrows)).toEqual({ order: ['w'], rest: ['x', 'y', 'z'] })
})
