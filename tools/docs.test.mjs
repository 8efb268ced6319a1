// Checks what the documentation names: links and their headings, paths, npm commands, commands of
// the lab.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const pages = [
  'README.md',
  'README.zh.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'bench/torch/README.md',
  ...readdirSync('docs', { recursive: true })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
].map((file) => ({ file, text: readFileSync(file, 'utf8') }))

/** Every match of a pattern's first group in any page, with the page. */
const found = (pattern) =>
  pages.flatMap(({ file, text }) =>
    [...text.matchAll(pattern)].map(([, named]) => ({ file, named })),
  )

/** The anchors that GitHub gives the headings of a page. */
const anchors = (file) =>
  [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

test('every link leads to a file, and to a heading that it has', () => {
  const links = found(/\]\(([^)\s]+)\)/g).filter(({ named }) => /^[\w.#/-]+$/.test(named))
  const broken = links.filter(({ file, named }) => {
    const [path, anchor] = named.split('#')
    const target = path ? join(dirname(file), path) : file
    if (!existsSync(target)) return true
    return anchor && target.endsWith('.md') && !anchors(target).includes(anchor)
  })
  expect(links.length).toBeGreaterThan(100)
  expect(broken).toEqual([])
})

test('every path of the repository that is named exists', () => {
  const folders = 'src|docs|tools|scripts|bench|e2e|conformance|hosting|public'
  const paths = found(new RegExp(`\`((?:${folders})/[\\w./-]+)\``, 'g'))
  expect(paths.length).toBeGreaterThan(100)
  // The first card makes its folder.
  const missing = paths.filter(({ named }) => !existsSync(named) && named !== 'bench/cards/')
  expect(missing).toEqual([])
})

test('every npm command is a script, and every command of the lab is one', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  const commands = found(/npm run (?:-s )?([\w:-]+)/g)
  expect(commands.length).toBeGreaterThan(50)
  expect(commands.filter(({ named }) => !(named in scripts))).toEqual([])
  const declared = new Set(
    ['src/cli', 'conformance', 'tools']
      .flatMap((folder) =>
        readdirSync(folder, { recursive: true }).map((name) => join(folder, name)),
      )
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => [...readFileSync(name, 'utf8').matchAll(/^ +name: '([a-z-]+)',$/gm)])
      .map(([, name]) => name),
  )
  const lab = found(/npm run -s lab -- ([a-z-]+)/g)
  expect(lab.length).toBeGreaterThan(30)
  expect(lab.filter(({ named }) => named !== 'help' && !declared.has(named))).toEqual([])
})
