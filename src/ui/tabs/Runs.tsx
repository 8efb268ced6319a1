// Runs of this browser.
export default function Runs() {
  return null
}
