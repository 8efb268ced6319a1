// Follows the recipe "Add a panel": one file, and one line in a list of panels.
import { readFileSync } from 'node:fs'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect } from 'vitest'

export const panel = {
  name: 'a panel',
  file: 'src/ui/learning/Pace.tsx',
  text: readFileSync(new URL('Pace.tsx', import.meta.url), 'utf8'),
  list: 'src/ui/shell/Workspace.tsx',
  import: "import { Pace } from '../learning/Pace.tsx'",
  after: "[{ name: 'The numbers', Panel: Numbers }",
  line: "  , { name: 'The pace', Panel: Pace }",
  checks: { 'the page shows it, for the step that it shows': onPage },
}

async function onPage(load) {
  const { App } = await load('ui/shell/App.tsx')
  const page = renderToStaticMarkup(createElement(App))
  expect(/<p data-testid="pace">(.*?)<\/p>/.exec(page)?.[1]).toBe('0.0\u00a0% of all steps')
}
