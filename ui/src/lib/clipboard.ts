/** Puts text that the page shows anyway on the clipboard. Nothing is ever read from it here. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
