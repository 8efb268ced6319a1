// Saves files for the person at the page.

/** Offers a file for download. */
export function saveFile(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // Some browsers read the blob after the click.
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
