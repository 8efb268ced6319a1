// Reads colours of tokens.css as a canvas understands them.
let cache = new Map<string, string>()
let cachedTheme: boolean | undefined

/** As a style names it: a token such as '--ink', or any CSS colour. */
export const cssColor = (color: string): string =>
  color.startsWith('--') ? `var(${color})` : color

/** Resolved colour of a custom property such as '--ink'; anything else is returned as it is. */
export function resolveColor(color: string, isDark: boolean): string {
  if (!color.startsWith('--')) return color
  if (cachedTheme !== isDark) {
    cache = new Map()
    cachedTheme = isDark
  }
  let resolved = cache.get(color)
  if (resolved === undefined) {
    // light-dark() is resolved only where a real property uses it.
    const probe = document.createElement('span')
    probe.style.color = `var(${color})`
    // Colours that the system forces would make all lines alike.
    probe.style.setProperty('forced-color-adjust', 'none')
    document.body.append(probe)
    resolved = getComputedStyle(probe).color
    probe.remove()
    cache.set(color, resolved)
  }
  return resolved
}
