"""What runs inside the sandbox's process. Nothing here is imported by the service itself."""
