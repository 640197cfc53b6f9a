"""Live sessions: workers who are all there add up one sum after another, and nobody sees a part."""
