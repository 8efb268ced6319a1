import { readdirSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, test } from 'vitest'
import { arrowsOf, importsBelow, mutualPairs, ordered } from './imports.mjs'

const FOLDERS = ['src', 'conformance', 'tools'].flatMap((top) => [
  top,
  ...readdirSync(top, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => posix.join(entry.parentPath.replaceAll('\\', '/'), entry.name)),
])

test('no folder, however deep, holds folders that import each other in a circle', () => {
  const circles = FOLDERS.flatMap((root) => {
    const arrows = arrowsOf(root)
    const folders = new Set([...arrows].flatMap(([from, out]) => [from, ...out.keys()]))
    const { rest } = ordered([...folders], arrows)
    return rest.length > 0 ? [`${root}: ${rest.join(' ')}; ${mutualPairs(arrows).join(', ')}`] : []
  })
  expect(circles).toEqual([])
})

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
