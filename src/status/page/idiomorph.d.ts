declare module 'idiomorph' {
  export const Idiomorph: {
    morph(
      old: Element,
      next: Element,
      options: { morphStyle: 'outerHTML'; ignoreActiveValue: boolean },
    ): void;
  };
}
