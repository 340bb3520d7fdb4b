// The width a drawing has, in whole CSS pixels; 0 until it is known.
import { useSignal, type Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { RefObject } from 'preact';

export function useWidth<E extends HTMLElement>(): { ref: RefObject<E | null>; width: Signal<number> } {
  const ref = useRef<E>(null);
  const width = useSignal(0);
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    const observer = new ResizeObserver(() => (width.value = Math.floor(element.clientWidth)));
    observer.observe(element);
    width.value = Math.floor(element.clientWidth);
    return () => observer.disconnect();
  }, []);
  return { ref, width };
}
