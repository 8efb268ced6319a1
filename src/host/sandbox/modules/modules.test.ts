// Tests which modules a program gets: those that it imports and that are there, with what they
// need.
import { expect, test } from 'vitest'
import { modulesFor } from './modules.ts'

const locked = (name: string, depends: string[] = [], imports = [name]) => ({
  file_name: `${name}-1-py3-none-any.whl`,
  depends,
  imports,
})
const lock = {
  packages: {
    numpy: locked('numpy'),
    sympy: locked('sympy', ['mpmath'], ['isympy', 'sympy']),
    mpmath: locked('mpmath'),
    pyyaml: locked('pyyaml', [], ['_yaml', 'yaml']),
    pandas: locked('pandas'),
  },
}
const packagesOf = (source: string, missing: readonly string[] = []) =>
  Object.keys(
    modulesFor(source, lock, (file) => !missing.some((name) => file.startsWith(name))).packages,
  )

test.for([
  ['import sympy', ['sympy', 'mpmath']],
  ['def f():\n    import os, yaml as y', ['pyyaml']],
  ['from sympy.parsing.latex import parse_latex', ['sympy', 'mpmath']],
  ['import importlib\nm = importlib.import_module("numpy.linalg")', ['numpy']],
  ['x = 1; import numpy as np', ['numpy']],
  ['import re', []],
  ['import pandas', []],
] as const)('%s', ([source, packages]) => {
  expect(packagesOf(source)).toEqual(packages)
})

test('a package is imported by the names that the program has for it', () => {
  const { imports } = modulesFor('import yaml, sympy', lock, () => true)
  expect(imports).toEqual(['sympy', 'yaml'])
})

test('what is not there, or lacks what it needs, is not loaded; its size is known', () => {
  expect(packagesOf('import sympy, numpy', ['mpmath'])).toEqual(['numpy'])
  const { offered } = modulesFor('', lock, (file) => file.startsWith('numpy'))
  expect(offered.there).toEqual(['numpy (about 3 MB)'])
  expect(offered.fetched_later).toMatchObject({ sympy: 'about 6.3 MB', yaml: 'about 0.2 MB' })
  expect(Object.keys(offered.fetched_later)).not.toContain('pandas')
})
